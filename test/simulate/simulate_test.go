package simulate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
)

var (
	seed   = flag.Uint64("seed", 0, "run this seed alone, and tell all that happens")
	seeds  = flag.Int("seeds", 0, "how many seeds a search runs; 0: as many as its ring does")
	first  = flag.Uint64("first", 0, "the first of them; 0: where SIGNPOST_SEED puts it")
	share  = flag.Int("share", 0, "which share of the seeds this process tells, 0: all, by other processes")
	shares = flag.Int("shares", 1, "how many shares there are")
	enough = flag.Int("failures", 5, "how many failed seeds end a run")
)

// drawn is how bad a seed's world is, but for rivals: some are quiet, so that what
// breaks there is easy to understand.
func drawn(seed uint64) profile {
	random := rand.New(rand.NewPCG(seed, 2))
	return profile{
		replicas: 1 + random.IntN(3),
		actions:  4 + random.IntN(16),
		faults:   []float64{0, .01, .04, .1}[random.IntN(4)],
		crashes:  []float64{0, 0, .003, .01}[random.IntN(4)],

		skewed:    seed%skewedOneIn == 1,
		operators: seed%operatedOneIn == 0,
		sick:      seed%sickOneIn == sickest,
		crowded:   seed%crowdedOneIn == mostCrowded,
	}
}

// profileOf is how bad a seed's world is.
func profileOf(seed uint64) profile {
	p := drawn(seed)
	if seed%rivalledOneIn == mostRivalled {
		p.rivalled = true
		p.replicas = max(p.replicas, 2)
		p.faults /= 10 // a release takes many requests: of more faults, few would come to anything
	}
	p.named = seed%namedOneIn == mostNamed
	return p
}

// simulate runs one world.
func simulate(t *testing.T, seed uint64, p profile, all func(string)) (h History) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(*testing.T) { h = newWorld(seed, p, all).live() })
	return h
}

// search is a test that runs one world for each of many seeds.
type search struct {
	*testing.T

	cases int // that its ring runs
	world func(seed uint64, all func(string)) History
}

// report tells what a failed seed did, and how to see it again.
func (s search) report(seed uint64, h History) string {
	return fmt.Sprintf("%s\n%s\n\nseed %d, %d steps: %s\nagain: go test ./simulate -run '%s$' -seed=%d -v",
		h.Tail, h.Broken.Error(), seed, h.Steps, h.Took, s.Name(), seed)
}

// TestSeeds: whatever goes wrong, the invariants hold at every step, and when
// nothing goes wrong any more, the clusters converge to the current releases.
func TestSeeds(t *testing.T) {
	search{t, sample.Cases(20, 200, 4000), func(seed uint64, all func(string)) History {
		return simulate(t, seed, profileOf(seed), all)
	}}.run()
}

// run tells the histories of all seeds, or of the one that the command line names.
// Histories are told one after the other; so that all processors have something
// to do, other processes of this test tell shares of them.
func (s search) run() {
	s.Helper()
	if *seed != 0 {
		h := s.world(*seed, func(line string) { fmt.Println(line) })
		if h.Broken != nil {
			s.Fatal(s.report(*seed, h))
		}
		return
	}
	if *share == 0 {
		from, count := s.chosen()
		s.tellShares(runtime.NumCPU(), from, count)
		return
	}
	steps, failed, began := 0, 0, time.Now()
	for n := *share - 1; n < *seeds && failed < *enough; n += *shares {
		number := *first + uint64(n)
		h := s.world(number, nil)
		steps += h.Steps
		if h.Broken != nil {
			s.Error(s.report(number, h))
			failed++
		}
	}
	s.Logf("%d steps in %s", steps, time.Since(began))
}

// chosen is which seeds are run where the command line does not say: two
// values of SIGNPOST_SEED have no seed in common.
func (s search) chosen() (from uint64, count int) {
	s.Helper()
	if from, count = *first, *seeds; count == 0 {
		count = s.cases
	}
	if from == 0 {
		from = 1 + (sample.Seed(s)-1)*uint64(count)
	}
	fmt.Printf("seeds %d to %d\n", from, from+uint64(count)-1)
	return from, count
}

// tellShares has as many processes tell all seeds.
func (s search) tellShares(processes int, from uint64, count int) {
	s.Helper()
	program, err := os.Executable()
	require.NoError(s, err)
	var all sync.WaitGroup
	for n := range processes {
		all.Go(func() {
			out, err := exec.CommandContext(s.Context(), program, "-test.run", s.Name()+"$", "-test.v", "-test.timeout", "0",
				"-share", fmt.Sprint(n+1), "-shares", fmt.Sprint(processes),
				"-seeds", fmt.Sprint(count), "-first", fmt.Sprint(from), "-failures", fmt.Sprint(*enough)).CombinedOutput()
			if err != nil {
				s.Errorf("%v\n%s", err, out)
				return
			}
			s.Logf("%s", out)
		})
	}
	all.Wait()
}

// TestASeedIsAHistory: the same seed gives the same history, step by step.
func TestASeedIsAHistory(t *testing.T) {
	for number := range uint64(sample.Cases(2, 10, 60)) {
		var lines []string
		a := simulate(t, number, profileOf(number), func(line string) { lines = append(lines, line) })
		n := 0
		b := simulate(t, number, profileOf(number), func(line string) {
			if n < len(lines) && lines[n] != line {
				t.Logf("seed %d differs at step %d:\n%s\n%s", number, n, lines[n], line)
				n = len(lines)
			}
			n++
		})
		require.Equal(t, a.Hash, b.Hash, "seed %d", number)
	}
}
