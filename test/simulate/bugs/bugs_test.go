package bugs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/simulate/bugs"
)

const root = "../../.."

// TestEachBugStillFitsTheProduct: the text that a bug replaces is there, once.
func TestEachBugStillFitsTheProduct(t *testing.T) {
	names := map[string]bool{}
	for _, bug := range bugs.All() {
		overlay, err := bug.Overlay(root, t.TempDir())
		require.NoError(t, err)
		require.FileExists(t, overlay)
		require.NotEmpty(t, bug.Invariants)
		names[bug.Name] = true
	}
	require.Len(t, names, len(bugs.All()))
	require.GreaterOrEqual(t, len(names), 10)
}

// TestABugThatNoLongerFitsIsTold: it is not passed over in silence.
func TestABugThatNoLongerFitsIsTold(t *testing.T) {
	bug := bugs.All()[0]
	bug.Text = "what nobody wrote"
	_, err := bug.Overlay(root, t.TempDir())
	require.ErrorContains(t, err, "0 times")
	bug.Text = "c.queue"
	_, err = bug.Overlay(root, t.TempDir())
	require.ErrorContains(t, err, "not once")
}

// TestTheOverlayChangesOneFile: the rest of the product stays as it is.
func TestTheOverlayChangesOneFile(t *testing.T) {
	bug := bugs.All()[0]
	dir := t.TempDir()
	overlay, err := bug.Overlay(root, dir)
	require.NoError(t, err)
	text, err := os.ReadFile(overlay)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), ".go\":"), string(text))
	before, err := os.ReadFile(root + "/" + bug.File)
	require.NoError(t, err)
	after, err := os.ReadFile(filepath.Join(dir, filepath.Base(bug.File)))
	require.NoError(t, err)
	require.Equal(t, strings.Replace(string(before), bug.Text, bug.Replacement, 1), string(after))
}
