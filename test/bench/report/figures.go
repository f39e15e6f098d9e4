// Package report writes the tables and charts of docs/performance.md from what benchmarks print.
//
// A table stands in a region of the page, between two comments. The first comment says which
// benchmark it is of, and at which commit it was measured. A region whose benchmark has changed
// since is marked as old.
package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Figure is one figure of a benchmark.
type Figure struct {
	Case  string // the sub-benchmark, without its size
	Size  int    // the number of names of the sub-benchmark; 0: it has none
	Row   string // what was measured
	Unit  string // the column
	Value float64
}

var (
	processors = regexp.MustCompile(`-\d+$`)
	sized      = regexp.MustCompile(`/?names=(\d+)$`)
	quantile   = regexp.MustCompile(`^(.+)-(p\d+-\S+)$`)
	counted    = regexp.MustCompile(`^(.+)-([^-]+)$`)
)

// Parse reads the output of go test -bench.
func Parse(output string) ([]Figure, error) {
	var all []Figure
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		_, of, _ := strings.Cut(processors.ReplaceAllString(fields[0], ""), "/")
		of = strings.ReplaceAll(of, "_", " ")
		size := 0
		if found := sized.FindStringSubmatch(of); found != nil {
			size, _ = strconv.Atoi(found[1])
			of = strings.TrimSuffix(of, found[0])
		}
		for at := 2; at+1 < len(fields); at += 2 {
			value, err := strconv.ParseFloat(fields[at], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			row, unit := name(strings.ReplaceAll(fields[at+1], "_", " "))
			all = append(all, Figure{Case: of, Size: size, Row: row, Unit: unit, Value: value})
		}
	}
	return all, nil
}

// name divides the name of a metric, as in commit-p50-ms or puts/commit, into its row and unit.
func name(metric string) (row, unit string) {
	for _, form := range []*regexp.Regexp{quantile, counted} {
		if found := form.FindStringSubmatch(metric); found != nil {
			return found[1], strings.Replace(found[2], "-", ", ", 1)
		}
	}
	if strings.Contains(metric, "/") && !strings.HasSuffix(metric, "/op") {
		return metric, "ratio"
	}
	return "", metric
}

// Table lays figures out in Markdown. Sizes are columns, if the benchmark has sizes; else units are.
func Table(all []Figure) string {
	if slices.ContainsFunc(all, func(f Figure) bool { return f.Size > 0 }) {
		return growth(all)
	}
	return sides(all)
}

// Only keeps the figures of rows that a regular expression matches.
func Only(all []Figure, rows string) ([]Figure, error) {
	wanted, err := regexp.Compile(rows)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(all), func(f Figure) bool { return !wanted.MatchString(seriesOf(f)) }), nil
}

// table is cells by row and column, in the order in which they came.
type table struct {
	rows, columns []string
	cells         map[[2]string]float64
}

func (t *table) put(row, column string, value float64) {
	if t.cells == nil {
		t.cells = map[[2]string]float64{}
	}
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	if !slices.Contains(t.columns, column) {
		t.columns = append(t.columns, column)
	}
	t.cells[[2]string{row, column}] = value
}

// markdown writes the table. The last cells of each row come from the caller.
func (t *table) markdown(more []string, last func(row string) []string) string {
	var text strings.Builder
	columns := slices.Concat(t.columns, more)
	fmt.Fprintf(&text, "| | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for _, row := range t.rows {
		fmt.Fprintf(&text, "| %s |", row)
		for _, column := range t.columns {
			cell := ""
			if value, ok := t.cells[[2]string{row, column}]; ok {
				cell = Number(value)
			}
			fmt.Fprintf(&text, " %s |", cell)
		}
		for _, cell := range last(row) {
			fmt.Fprintf(&text, " %s |", cell)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// sides is a table of contenders.
func sides(all []Figure) string {
	var t table
	for _, f := range all {
		if f.Unit == "ns/op" && f.Value == 0 {
			continue // each contender has a time of its own
		}
		t.put(label(f.Case, f.Row), f.Unit, f.Value)
	}
	return t.markdown(nil, func(string) []string { return nil })
}

// growth is a table of sizes, with the ratio of the last column to the first.
func growth(all []Figure) string {
	var t table
	for _, f := range all {
		if f.Unit != "ns/op" || f.Value != 0 {
			t.put(seriesOf(f), fmt.Sprintf("%s names", Number(float64(f.Size))), f.Value)
		}
	}
	return t.markdown([]string{"largest to smallest"}, func(row string) []string {
		var cells []float64
		for _, column := range t.columns {
			if value, ok := t.cells[[2]string{row, column}]; ok {
				cells = append(cells, value)
			}
		}
		if len(cells) < 2 || cells[0] == 0 {
			return []string{""}
		}
		return []string{Number(cells[len(cells)-1] / cells[0])}
	})
}

// seriesOf names what grows.
func seriesOf(f Figure) string { return strings.TrimPrefix(label(f.Case, f.Row)+", "+f.Unit, ", ") }

func label(of, row string) string {
	if of == "" || row == "" {
		return of + row
	}
	return of + ": " + row
}

// Number writes a number with three digits that count.
func Number(value float64) string {
	const thousand, digits = 1000, 3
	if math.Abs(value) >= thousand {
		whole := strconv.FormatFloat(math.Round(value), 'f', 0, 64)
		for at := len(whole) - digits; at > 0; at -= digits {
			whole = whole[:at] + "," + whole[at:]
		}
		return whole
	}
	return strconv.FormatFloat(value, 'g', digits, 64)
}
