package report

import (
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strings"
)

// The measures of a chart, in pixels.
const (
	width, height = 760, 420
	left, top     = 60, 20
	right, bottom = 250, 50 // the names of the series are to the right
)

// Chart draws how some series grow with the size, on logarithmic scales: each beside its own
// value at the smallest size. What is flat does not grow; the dashed line grows as the names do.
func Chart(all []Figure, series []string) string {
	lines, sizes := map[string]map[int]float64{}, map[int]bool{}
	for _, f := range all {
		if what := seriesOf(f); slices.Contains(series, what) && f.Size > 0 && f.Value > 0 {
			if lines[what] == nil {
				lines[what] = map[int]float64{}
			}
			lines[what][f.Size] = f.Value
			sizes[f.Size] = true
		}
	}
	at := slices.Sorted(maps.Keys(sizes))
	if len(at) < 2 {
		return ""
	}
	first, last := float64(at[0]), float64(at[len(at)-1])
	lowest, highest := 0.1, last/first
	x := func(size float64) float64 {
		return left + (width-left-right)*math.Log(size/first)/math.Log(last/first)
	}
	y := func(ratio float64) float64 {
		ratio = min(max(ratio, lowest), highest)
		return height - bottom - (height-top-bottom)*math.Log(ratio/lowest)/math.Log(highest/lowest)
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for ratio := lowest; ratio <= highest*1.01; ratio *= 10 {
		fmt.Fprintf(&svg, `<path d="M%d %.0fH%d" stroke="#ddd"/><text x="%d" y="%.0f" text-anchor="end">%s×</text>`+"\n", left, y(ratio), width-right, left-6, y(ratio)+4, Number(ratio))
	}
	for _, size := range at {
		fmt.Fprintf(&svg, `<text x="%.0f" y="%d" text-anchor="middle">%s</text>`+"\n", x(float64(size)), height-bottom+18, Number(float64(size)))
	}
	fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="middle">names</text>`+"\n", (left+width-right)/2, height-10)
	fmt.Fprintf(&svg, `<path d="M%.0f %.0fL%.0f %.0f" stroke="#999" stroke-dasharray="4"/>`+"\n", x(first), y(1), x(last), y(last/first))
	colors := []string{"#1b6ca8", "#c8553d", "#2e7d32", "#7b4ea3", "#b8860b", "#00838f", "#ad1457", "#555"}
	for n, what := range series {
		var points []string
		for _, size := range at {
			if value, ok := lines[what][size]; ok && lines[what][at[0]] > 0 {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(size)), y(value/lines[what][at[0]])))
			}
		}
		color := colors[n%len(colors)]
		fmt.Fprintf(&svg, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), color)
		fmt.Fprintf(&svg, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", width-right+12, top+16+n*18, color, html.EscapeString(what))
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}
