// Package golden compares texts with files of testdata. For tests.
package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Equal fails the test unless the text is that of a file below testdata. With
// SIGNPOST_GOLDEN=write in the environment the file is written anew, and is to
// be read before it is kept.
func Equal(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("SIGNPOST_GOLDEN") == "write" {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, file)
}
