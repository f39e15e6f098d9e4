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
	seeds  = flag.Int("seeds", 0, "how many seeds TestSeeds runs; 0: as many as its ring does")
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

// report tells what a failed seed did, and how to see it again.
func report(seed uint64, h History) string {
	return fmt.Sprintf("%s\n%s\n\nseed %d, %d steps: %s\nagain: go test ./simulate -run 'TestSeeds$' -seed=%d -v",
		h.Tail, h.Broken.Error(), seed, h.Steps, h.Took, seed)
}

// TestSeeds: whatever goes wrong, the invariants hold at every step, and when
// nothing goes wrong any more, the clusters converge to the current releases.
// Histories are told one after the other; so that all processors have something
// to do, other processes of this test tell shares of them.
func TestSeeds(t *testing.T) {
	if *seed != 0 {
		h := simulate(t, *seed, profileOf(*seed), func(line string) { fmt.Println(line) })
		if h.Broken != nil {
			t.Fatal(report(*seed, h))
		}
		return
	}
	if *share == 0 {
		choose(t)
		tellShares(t, runtime.NumCPU())
		return
	}
	steps, failed, began := 0, 0, time.Now()
	for n := *share - 1; n < *seeds && failed < *enough; n += *shares {
		number := *first + uint64(n)
		h := simulate(t, number, profileOf(number), nil)
		steps += h.Steps
		if h.Broken != nil {
			t.Error(report(number, h))
			failed++
		}
	}
	t.Logf("%d steps in %s", steps, time.Since(began))
}

// choose settles which seeds are run where the command line does not say: two
// values of SIGNPOST_SEED have no seed in common.
func choose(t *testing.T) {
	if *seeds == 0 {
		*seeds = sample.Cases(20, 200, 4000)
	}
	if *first == 0 {
		*first = 1 + (sample.Seed(t)-1)*uint64(*seeds)
	}
	fmt.Printf("seeds %d to %d\n", *first, *first+uint64(*seeds)-1)
}

// tellShares has as many processes tell all seeds.
func tellShares(t *testing.T, processes int) {
	program, err := os.Executable()
	require.NoError(t, err)
	var all sync.WaitGroup
	for n := range processes {
		all.Go(func() {
			out, err := exec.CommandContext(t.Context(), program, "-test.run", "TestSeeds$", "-test.v", "-test.timeout", "0",
				"-share", fmt.Sprint(n+1), "-shares", fmt.Sprint(processes),
				"-seeds", fmt.Sprint(*seeds), "-first", fmt.Sprint(*first), "-failures", fmt.Sprint(*enough)).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
				return
			}
			t.Logf("%s", out)
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
