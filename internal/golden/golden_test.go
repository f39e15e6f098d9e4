package golden_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
)

func TestAFileIsWrittenOnDemandAndComparedAfterwards(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("SIGNPOST_GOLDEN", "write")
	golden.Equal(t, "a/b.txt", "one\n")
	t.Setenv("SIGNPOST_GOLDEN", "")
	golden.Equal(t, "a/b.txt", "one\n")
	text, err := os.ReadFile(filepath.Join("testdata", "a", "b.txt"))
	require.NoError(t, err)
	require.Equal(t, "one\n", string(text))
}
