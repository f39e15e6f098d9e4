package bench

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// changes are those of a row of BenchmarkTimeToAnswer. Rows that are slow have a part of them.
var changes = flag.Int("changes", 20, "how many changed addresses BenchmarkTimeToAnswer measures on each server")

// The goals for the 99th percentile.
const (
	builtInGoal  = time.Second
	eventsGoal   = 6500 * time.Millisecond
	failoverGoal = 2 * time.Second
)

// BenchmarkTimeToAnswer changes the address of a load balancer in a kube-apiserver and asks until the new address is answered.
// Signpost is a process of its own; CoreDNS with its etcd, BIND, Unbound and external-dns are real. The built-in publisher writes zones of
// 10 names, and then of 10,000. Beside it, Deployments of external-dns write names.
func BenchmarkTimeToAnswer(b *testing.B) {
	w := newAnswerWorld(b)
	p99 := builtInGoal
	b.Run("built-in, 10 names", func(b *testing.B) { p99 = w.builtIn(b) })
	b.Run("external-dns", w.externalDNS)
	b.Run("last ready endpoint lost", w.failsOver)
	b.Run("clients of a resolver", func(b *testing.B) { w.behindUnbound(b, p99) })
	b.Run("built-in, 10,000 names", func(b *testing.B) {
		w.grow(b, 10_000)
		w.builtIn(b)
	})
}

// row reports a row of the table.
func row(b *testing.B, name string, times compare.Samples, goal time.Duration) {
	b.Helper()
	name = metric(name)
	times.Report(b, name, time.Millisecond)
	b.ReportMetric(float64(len(times)), name+"-changes")
	if goal > 0 {
		b.ReportMetric(float64(goal)/float64(time.Millisecond), name+"-goal_for_p99,_ms")
	}
	b.ReportMetric(0, "ns/op")
}

// metric is the name of a row in the names of metrics, which have no spaces.
func metric(row string) string { return strings.ReplaceAll(row, " ", "_") }

// builtIn changes a name on CoreDNS and one on BIND, in turns, and answers the p99 of CoreDNS. An answer that is
// neither the old address nor the new one fails the benchmark.
func (w *answerWorld) builtIn(b *testing.B) time.Duration {
	b.Helper()
	names, times := []*answerName{w.lab, w.corp}, make([]compare.Samples, 2)
	before := w.costs(b)
	for b.Loop() {
		for turn := range *changes {
			for n := range names {
				at := (turn + n) % len(names)
				noBurst(b)
				took, wrong, err := names[at].follow(b.Context(), time.Millisecond)
				require.NoError(b, err)
				require.Empty(b, wrong, names[at].host)
				times[at] = append(times[at], took)
			}
		}
	}
	after := w.costs(b)
	for n, server := range []string{"CoreDNS", "BIND"} {
		row(b, server, times[n], builtInGoal)
		b.ReportMetric(float64(after[n].writes-before[n].writes)/float64(len(times[n])), server+"-writes/change")
		b.ReportMetric(float64(after[n].reads-before[n].reads)/float64(len(times[n])), server+"-reads/change")
	}
	return times[0][len(times[0])*99/100]
}

// noBurst waits until the next change is no part of a burst.
func noBurst(b *testing.B) {
	b.Helper()
	const over = 300 * time.Millisecond
	select {
	case <-time.After(over):
	case <-b.Context().Done():
	}
}

// externalDNS changes names of two Deployments of external-dns at once: with --events one after the other, and without
// at random instants of its loop. It counts answers that are neither the old address nor the new one.
func (w *answerWorld) externalDNS(b *testing.B) {
	const few, every = 10, 5 * time.Millisecond // a tenth of all changes
	for b.Loop() {
		var events, loop sideline
		var group errgroup.Group
		group.Go(func() error { return events.oneByOne(b, w.events, max(1, *changes/few), every) })
		group.Go(func() error { return loop.atOnce(b, w.loop, every) })
		require.NoError(b, group.Wait())
		row(b, "with --events", events.times, eventsGoal)
		row(b, "its loop of 60 s", loop.times, 0)
		b.ReportMetric(float64(events.wrong), "with_--events-wrong_answers")
		b.ReportMetric(float64(loop.wrong), "its_loop_of_60_s-wrong_answers")
	}
}

// failsOver has Services lose their last ready endpoint in Paris, one after the other, until Berlin's address alone is answered. Each
// does so once: an address that comes and goes is kept out for longer each time.
func (w *answerWorld) failsOver(b *testing.B) {
	paris := w.Cluster(fixture.Paris)
	var times compare.Samples
	for b.Loop() {
		for _, name := range w.standby {
			noBurst(b)
			began := time.Now()
			require.NoError(b, paris.SetPods(b.Context(), appNamespace, name.service, false, "10.1.0.1"))
			took, wrong, err := name.await(b.Context(), berlinAddress, parisAddress, began, time.Millisecond)
			require.NoError(b, err)
			require.Empty(b, wrong)
			times = append(times, took)
		}
	}
	row(b, "failover", times, failoverGoal)
}
