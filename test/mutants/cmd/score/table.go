package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/signpost-dns/signpost/test/simulate/bugs"
)

// The rings of a result, as the table has them, beside the numbers of rings.
const (
	escaped = "escaped" // no test of rings 1 and 2 finds the mutant
	failed  = "error"   // the mutant could not be measured
)

// result is what was found out about a mutant; zero: nothing.
type result struct {
	ring string // 1, 2, escaped or error
	by   string // the test that finds the mutant, or the error
}

func (r result) known() bool { return r.ring != "" && r.ring != failed }

func (r result) String() string { return strings.TrimSpace(r.ring + " " + r.by) }

// judge fails if no test finds the mutant.
func (r result) judge() error {
	if r.ring == "1" || r.ring == "2" {
		return nil
	}
	return errors.New(r.String())
}

// table is the results by the names of mutants.
type table map[string]result

// The columns of the table: mutant, file, breaks, ring, found by.
const (
	columns    = 5
	nameColumn = 0
	ringColumn = 3
	byColumn   = 4
)

const head = `# Mutation score

For whoever wants to change or remove tests: the planted faults, and the first test that finds each of them.
` + "`make test-mutants`" + ` writes this page; test/mutants and test/simulate/bugs have the faults.
Ring 1 is ` + "`make test`" + `, ring 2 ` + "`make test-real`" + `.

| mutant | file | breaks | ring | found by |
|---|---|---|---|---|
`

// readTable reads the results of a table; none of a file that is not there.
func readTable(file string) (table, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return table{}, nil
	}
	results := table{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) == columns && strings.HasPrefix(line, "| ") {
			results[strings.TrimSpace(cells[nameColumn])] = result{strings.TrimSpace(cells[ringColumn]), strings.TrimSpace(cells[byColumn])}
		}
	}
	return results, err
}

// write writes the table of the mutants, with the score.
func (t table) write(file string, all []bugs.Bug) error {
	var b strings.Builder
	b.WriteString(head)
	for _, mutant := range all {
		r := t[mutant.Name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", mutant.Name, mutant.File, mutant.Breaks, r.ring, strings.NewReplacer("|", "/", "\n", " ").Replace(r.by))
	}
	fmt.Fprintf(&b, "\n%s\n", t.score(all))
	const mode = 0o644
	return os.WriteFile(file, []byte(b.String()), mode) //nolint:gosec // everybody may read it
}

// score counts the mutants by what finds them.
func (t table) score(all []bugs.Bug) score {
	s := score{all: len(all)}
	for _, mutant := range all {
		switch t[mutant.Name].ring {
		case "1":
			s.first++
		case "2":
			s.second++
		case escaped:
			s.escaped++
		default:
			s.unknown++
		}
	}
	return s
}

// judge prints the score, and fails if it is too low.
func (t table) judge(out io.Writer, all []bugs.Bug) error {
	s := t.score(all)
	fmt.Fprintln(out, s)
	if s.unknown > 0 {
		return fmt.Errorf("%d mutants could not be measured", s.unknown)
	}
	if s.first < s.least(leastFirst) || s.first+s.second < s.least(leastBoth) {
		return fmt.Errorf("the tests find too few mutants: at least %d by ring 1 and %d by rings 1 and 2 are required", s.least(leastFirst), s.least(leastBoth))
	}
	return nil
}

// score is how many mutants are found by what.
type score struct{ all, first, second, escaped, unknown int }

func (s score) String() string {
	text := fmt.Sprintf("Of %d mutants, ring 1 finds %d and rings 1 and 2 find %d; %d escape.", s.all, s.first, s.first+s.second, s.escaped)
	if s.unknown > 0 {
		text += fmt.Sprintf(" %d are not measured.", s.unknown)
	}
	return text
}

// How many of 60 mutants the rings must find, at least.
const (
	of         = 60
	leastFirst = 42
	leastBoth  = 57
)

// least is the same share of all mutants, rounded up.
func (s score) least(share int) int { return (share*s.all + of - 1) / of }
