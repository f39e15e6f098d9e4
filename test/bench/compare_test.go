// Package bench measures Signpost beside something to measure it by: the least
// that any program needs for the same, or what others do. Both sides of a
// comparison run in turns in one benchmark, so that whatever else the machine
// does meets both; a ratio then means more than its two times.
package bench

import (
	"slices"
	"testing"
	"time"
)

// contender is one way to do something.
type contender struct {
	name   string
	before func(b *testing.B)               // prepares a turn; nil: nothing is to be prepared
	turn   func(b *testing.B) time.Duration // does it once, and tells how long that took
}

// samples are the times of one contender's turns.
type samples []time.Duration

// compare gives the contenders turns until the benchmark has run long enough,
// each of them first equally often, and answers the times of each. It reports
// the medians and 99th percentiles in a unit, called as name-p50-unit.
func compare(b *testing.B, unit time.Duration, contenders ...contender) []samples {
	b.Helper()
	times := make([]samples, len(contenders))
	for first := 0; b.Loop(); first++ {
		for n := range contenders {
			at := (first + n) % len(contenders)
			if contenders[at].before != nil {
				contenders[at].before(b)
			}
			times[at] = append(times[at], contenders[at].turn(b))
		}
	}
	b.ReportMetric(0, "ns/op") // of all contenders together, it would say nothing
	for n, c := range contenders {
		slices.Sort(times[n])
		b.ReportMetric(times[n].quantile(0.5, unit), c.name+"-p50-"+symbol(unit))
		b.ReportMetric(times[n].quantile(0.99, unit), c.name+"-p99-"+symbol(unit))
	}
	return times
}

// quantile is a time of sorted samples, in a unit.
func (s samples) quantile(q float64, unit time.Duration) float64 {
	return float64(s[int(q*float64(len(s)-1)+0.5)]) / float64(unit)
}

// ratio tells how many of the other's medians go into this one's.
func (s samples) ratio(other samples) float64 {
	return s.quantile(0.5, time.Nanosecond) / other.quantile(0.5, time.Nanosecond)
}

// symbol is how a unit is written: "ms", "µs".
func symbol(unit time.Duration) string { return unit.String()[1:] }
