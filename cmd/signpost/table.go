package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// table is text in columns under a heading.
type table struct{ rows [][]string }

func newTable(heading ...string) *table { return &table{rows: [][]string{heading}} }

// add appends a row; an empty cell is shown as "-".
func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = plain(cell)
	}
	t.rows = append(t.rows, row)
}

func (t *table) empty() bool { return len(t.rows) == 1 }

// write prints the table.
func (t *table) write(w io.Writer) error {
	const gap = 2
	aligned := tabwriter.NewWriter(w, 0, 0, gap, ' ', 0)
	for _, row := range t.rows {
		if _, err := fmt.Fprintln(aligned, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return aligned.Flush()
}

// plain is a cell on one line, and without what a terminal would obey.
func plain(cell string) string {
	cell = strings.TrimSpace(visible(cell))
	if cell == "" {
		return "-"
	}
	return cell
}

// visible is text on one line of which a terminal obeys nothing: white space is a
// space, and what has no shape of its own, or turns the order of what follows, is
// shown as it is written in Go.
func visible(text string) string {
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

// writeTables prints the tables that have rows, with an empty line before each.
func writeTables(w io.Writer, tables ...*table) error {
	for _, t := range tables {
		if t.empty() {
			continue
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}
