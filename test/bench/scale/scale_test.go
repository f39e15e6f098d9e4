package scale

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	size = flag.Int("size", 10_000, "the largest number of names; a hundredth and a tenth of it are measured, too")
	idle = flag.Duration("idle", time.Minute, "how long the server is watched at rest")
)

// BenchmarkScale publishes a hundredth, a tenth and all of -size names by one Signpost process, in
// groups of a hundred and as names of their own, and measures at each size. A figure that grows
// with the size is one that does not scale.
func BenchmarkScale(b *testing.B) {
	for _, s := range []shape{groups(), single()} {
		b.Run(s.name, func(b *testing.B) {
			w, smallest := newWorld(b, s), result{}
			for _, names := range []int{*size / 100, *size / 10, *size} {
				names = max(s.each, names-names%s.each)
				if names == smallest.names || names == w.names {
					continue
				}
				w.fill(names)
				r := w.measure(*idle)
				if smallest.names == 0 {
					smallest = r
				}
				b.Run(fmt.Sprintf("names=%d", names), func(b *testing.B) { r.report(b, smallest) })
			}
		})
	}
}

// measure takes all figures at the present size.
func (w *world) measure(idle time.Duration) result {
	w.Helper()
	r := result{names: w.names, values: map[string]float64{}}
	w.restart(&r)
	w.calls(&r)
	w.follow(&r)
	w.quiet()
	w.rest(&r, idle)
	w.memory(&r)
	w.stored(&r)
	return r
}

// report gives the figures to the benchmark.
func (r *result) report(b *testing.B, smallest result) {
	b.Helper()
	if further := r.names - smallest.names; further > 0 {
		for _, kept := range []string{"resident", "live heap"} {
			grown := r.values[kept+"-MiB"] - smallest.values[kept+"-MiB"]
			r.note(kept+"-B/further name", grown*(1<<20)/float64(further))
		}
	}
	for range b.N {
	}
	b.ReportMetric(0, "ns/op")
	for what, value := range r.values {
		b.ReportMetric(value, strings.ReplaceAll(what, " ", "_"))
	}
}

// TestAHundredNamesAreMeasured runs all of the benchmark at its smallest. Calls take no more requests to the store than they
// do today and one, with the steps that follow.
func TestAHundredNamesAreMeasured(t *testing.T) {
	most := map[string]map[string]float64{
		"groups": {"accept": 60, "plan": 11, "status": 7},
		"names":  {"accept": 21, "plan": 7, "status": 7},
	}
	for _, s := range []shape{groups(), single()} {
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t, s)
			w.fill(100)
			r := w.measure(2 * time.Second)
			require.Zero(t, r.values["restart: redundant writes-files"])
			for call, requests := range most[s.name] {
				require.LessOrEqual(t, r.values[call+" of the last-requests"], requests, call)
			}
			t.Log(r.values)
		})
	}
}
