// Package compare runs the sides of a comparison in turns in one benchmark, so
// that whatever else the machine does meets all of them; a ratio then means
// more than its two times.
package compare

import (
	"slices"
	"testing"
	"time"
)

// Contender is one way to do something.
type Contender struct {
	Name   string
	Before func(b *testing.B)               // prepares a turn; nil: nothing is to be prepared
	Turn   func(b *testing.B) time.Duration // does it once, and tells how long that took
}

// Samples are the times of one contender's turns.
type Samples []time.Duration

// Run gives the contenders turns until the benchmark has run long enough,
// each of them first equally often, and answers the times of each. It reports
// the medians and 99th percentiles in a unit, called as name-p50-unit.
func Run(b *testing.B, unit time.Duration, contenders ...Contender) []Samples {
	b.Helper()
	times := make([]Samples, len(contenders))
	for first := 0; b.Loop(); first++ {
		for n := range contenders {
			at := (first + n) % len(contenders)
			if contenders[at].Before != nil {
				contenders[at].Before(b)
			}
			times[at] = append(times[at], contenders[at].Turn(b))
		}
	}
	b.ReportMetric(0, "ns/op") // of all contenders together, it would say nothing
	for n, c := range contenders {
		times[n].Report(b, c.Name, unit)
	}
	return times
}

// Report sorts the samples, and reports their median and 99th percentile in a
// unit.
func (s Samples) Report(b *testing.B, name string, unit time.Duration) {
	b.Helper()
	slices.Sort(s)
	b.ReportMetric(s.quantile(0.5, unit), name+"-p50-"+symbol(unit))
	b.ReportMetric(s.quantile(0.99, unit), name+"-p99-"+symbol(unit))
}

// quantile is a time of sorted samples, in a unit.
func (s Samples) quantile(q float64, unit time.Duration) float64 {
	return float64(s[int(q*float64(len(s)-1)+0.5)]) / float64(unit)
}

// Ratio tells how many of the other's medians go into this one's.
func (s Samples) Ratio(other Samples) float64 {
	return s.quantile(0.5, time.Nanosecond) / other.quantile(0.5, time.Nanosecond)
}

// P99Ratio tells how many of the other's 99th percentiles go into this one's.
func (s Samples) P99Ratio(other Samples) float64 {
	return s.quantile(0.99, time.Nanosecond) / other.quantile(0.99, time.Nanosecond)
}

// Beyond tells how much longer the median is than the other's, in nanoseconds.
func (s Samples) Beyond(other Samples) float64 {
	return s.quantile(0.5, time.Nanosecond) - other.quantile(0.5, time.Nanosecond)
}

// symbol is how a unit is written: "ms", "µs".
func symbol(unit time.Duration) string { return unit.String()[1:] }
