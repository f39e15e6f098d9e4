package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Table is text in columns under a heading.
type Table struct{ rows [][]string }

// NewTable makes a table with a heading.
func NewTable(heading ...string) *Table { return &Table{rows: [][]string{heading}} }

// Add appends a row; an empty cell is shown as "-".
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Plain(cell)
	}
	t.rows = append(t.rows, row)
}

func (t *Table) empty() bool { return len(t.rows) == 1 }

// Write prints the table.
func (t *Table) Write(w io.Writer) error {
	const gap = 2
	aligned := tabwriter.NewWriter(w, 0, 0, gap, ' ', 0)
	for _, row := range t.rows {
		if _, err := fmt.Fprintln(aligned, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return aligned.Flush()
}

// Plain is a cell on one line, and without what a terminal would obey.
func Plain(cell string) string { return cmp.Or(strings.TrimSpace(Visible(cell)), "-") }

// Visible is text on one line that a terminal shows without obeying. White space is a
// space. Characters without a shape, or that change the order of others, are shown as Go
// writes them.
func Visible(text string) string {
	var shown strings.Builder
	for _, r := range text {
		switch {
		case r == '\u2028' || r == '\u2029' || r != ' ' && unicode.IsSpace(r):
			shown.WriteByte(' ')
		case unicode.In(r, unicode.Cc, unicode.Cf):
			shown.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			shown.WriteRune(r)
		}
	}
	return shown.String()
}

// WriteTables prints the tables that have rows, with an empty line before each.
func WriteTables(w io.Writer, tables ...*Table) error {
	for _, t := range tables {
		if t.empty() {
			continue
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// Moment is a time for people, in UTC; empty for none.
func Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Count is a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// MomentOf is a moment that may be unknown.
func MomentOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Moment(*t)
}
