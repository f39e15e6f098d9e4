// Package breaking proves that continuous integration notices a change of
// openapi.yaml that breaks clients.
package breaking

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// compare runs the gate against a released file.
func compare(t *testing.T, released string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "released.yaml")
	require.NoError(t, os.WriteFile(file, []byte(released), 0o600))
	output, err := exec.CommandContext(t.Context(), "make", "-C", root, "openapi-breaking", "RELEASED="+file).CombinedOutput()
	return string(output), err
}

func TestAnOperationThatIsGoneBreaksClients(t *testing.T) {
	now, err := os.ReadFile(filepath.Join(root, "openapi", "openapi.yaml"))
	require.NoError(t, err)
	output, err := compare(t, string(now))
	require.NoError(t, err, output)

	const path = "\n  /healthz:\n"
	require.Equal(t, 1, strings.Count(string(now), path))
	output, err = compare(t, strings.Replace(string(now), path, "\n  /released:\n    get:\n      operationId: released\n      responses:\n        '200': {description: \"OK\"}"+path, 1))
	require.Error(t, err, output)
	require.Contains(t, output, "/released")
}
