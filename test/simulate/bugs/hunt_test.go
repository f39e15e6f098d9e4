//go:build bugs

package bugs_test

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/simulate/bugs"
)

// budget is how many seeds each bug has to be found in: as many as CI runs
// without a bug.
const budget = "2000"

var (
	broken = regexp.MustCompile(`(?m)^\s*(I\d+): (.*)`)
	seed   = regexp.MustCompile(`(?m)^\s*seed (\d+), (\d+) steps`)
)

// TestEachBugIsFound builds the simulator over a product that has the bug, and
// requires that a seed of CI's shows it, by an invariant that speaks of it. Which
// of several seeds is told first, is chance.
func TestEachBugIsFound(t *testing.T) {
	for _, bug := range bugs.All() {
		t.Run(strings.ReplaceAll(bug.Name, " ", "-"), func(t *testing.T) {
			overlay, err := bug.Overlay(root, t.TempDir())
			require.NoError(t, err)
			program := filepath.Join(t.TempDir(), "simulate.test")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", program, "./simulate")
			build.Dir = "../.."
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)
			out, err = exec.CommandContext(t.Context(), program, "-test.run", cmp.Or(bug.Test, "TestSeeds")+"$", "-seeds", budget, "-failures", "1").CombinedOutput()
			require.Error(t, err, "%s seeds do not find it", budget)
			what, where := broken.FindAllSubmatch(out, -1), seed.FindAllSubmatch(out, -1)
			require.NotEmpty(t, what, "%s", out)
			require.Len(t, where, len(what), "%s", out)
			var named []string
			for n := range what {
				t.Logf("found by seed %s after %s steps, %s: %.200s", where[n][1], where[n][2], what[n][1], what[n][2])
				named = append(named, string(what[n][1]))
			}
			require.True(t, slices.ContainsFunc(named, func(one string) bool { return slices.Contains(bug.Invariants, one) }), "%v, and none of %v", named, bug.Invariants)
		})
	}
}
