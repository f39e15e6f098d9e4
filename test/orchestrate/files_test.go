package orchestrate

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesOfEmcoctlAreAppliedToWhatEMCOHas: DCM has no PUT for KV pairs, and a
// missing parent is a conflict, as what exists already is.
func TestFilesOfEmcoctlAreAppliedToWhatEMCOHas(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	url, err := s.signpost.URL()
	require.NoError(t, err)
	document := filepath.Join(t.TempDir(), "document.yaml")
	apply := func(text string) (string, error) {
		require.NoError(t, os.WriteFile(document, []byte(text), 0o600))
		output, err := exec.CommandContext(t.Context(), program(t), "apply", "--server", url,
			"--orchestrator", s.Orchestrator.URL, "--dcm", s.DCM.URL, "-f", document).CombinedOutput()
		return string(output), err
	}
	kv := func(cloud, record string) string {
		return "version: emco/v2\nresourceContext: {anchor: projects/shop/logical-clouds/" + cloud + "/kv-pairs}\n" +
			"metadata: {name: dns-update-record-list}\nspec: {kv: [{key1: " + record + "}]}\n"
	}
	for _, step := range [][2]string{{"lab", "unchanged"}, {"corp", "configured"}, {"corp", "unchanged"}} {
		output, err := apply(kv("eu", step[0]))
		require.NoError(t, err, output)
		require.Equal(t, step[1]+" projects/shop/logical-clouds/eu/kv-pairs/dns-update-record-list\n", output)
	}
	output, err := apply(kv("gone", "lab"))
	require.Error(t, err)
	require.Contains(t, output, "projects/shop/logical-clouds/gone does not exist: ")

	answer, err := http.Get(s.DCM.URL + "/v2/projects/shop/logical-clouds/gone/kv-pairs/dns-update-record-list")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNotFound, answer.StatusCode, "no orphan is left")
}
