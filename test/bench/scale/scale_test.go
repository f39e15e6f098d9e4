package scale

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
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
		for _, kept := range []string{"resident", "live heap", "stored"} {
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
