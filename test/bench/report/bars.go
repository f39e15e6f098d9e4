package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Bars draws the median and the 99th percentile of each row on a logarithmic scale, and a line at its goal.
func Bars(all []Figure) string {
	rows, values := rowsOf(all)
	if len(rows) == 0 {
		return ""
	}
	const wide, each, names, edge, right = 760, 34, 300, 20, 40
	lowest, highest := math.Inf(1), 0.0
	for _, v := range values {
		lowest, highest = min(lowest, v), max(highest, v)
	}
	lowest, highest = math.Pow(10, math.Floor(math.Log10(lowest))), math.Pow(10, math.Ceil(math.Log10(highest)))
	x := func(value float64) float64 {
		return names + (wide-names-right)*math.Log(value/lowest)/math.Log(highest/lowest)
	}
	high := len(rows)*each + 2*edge
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", wide, high+edge)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", wide, high+edge)
	for at := lowest; at <= highest*1.01; at *= 10 {
		fmt.Fprintf(&svg, `<path d="M%.0f %dV%d" stroke="#ddd"/><text x="%.0f" y="%d" text-anchor="middle">%s ms</text>`+"\n", x(at), edge, high-edge, x(at), high, Number(at))
	}
	bar := func(what, color string, row, from int) {
		if value, ok := values[[2]string{rows[row], what}]; ok {
			fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="%.1f" height="10" fill="%s"/>`+"\n", names, edge+row*each+from, x(value)-names, color)
		}
	}
	for n, row := range rows {
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", names-8, edge+n*each+18, html.EscapeString(row))
		bar(median, "#1b6ca8", n, 4)
		bar(slowest, "#9ec5e0", n, 15)
		if goal, ok := values[[2]string{row, goal}]; ok {
			fmt.Fprintf(&svg, `<path d="M%.1f %dv27" stroke="#c8553d" stroke-width="3"/>`+"\n", x(goal), edge+n*each+1)
		}
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

// The units of bars.
const median, slowest, goal = "p50, ms", "p99, ms", "goal for p99, ms"

// rowsOf are the rows that have a median, in their order, and their values by row and unit.
func rowsOf(all []Figure) ([]string, map[[2]string]float64) {
	var rows []string
	values := map[[2]string]float64{}
	for _, f := range all {
		row := label(f.Case, f.Row)
		if f.Value <= 0 || !slices.Contains([]string{median, slowest, goal}, f.Unit) {
			continue
		}
		values[[2]string{row, f.Unit}] = f.Value
		if f.Unit == median {
			rows = append(rows, row)
		}
	}
	return rows, values
}
