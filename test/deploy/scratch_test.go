package deploy

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/need"
)

// TestAnImageFromScratchIsReproducibleAndRuns: without a daemon and without any base image, two
// builds of the release's image have one digest, and its program runs within it.
func TestAnImageFromScratchIsReproducibleAndRuns(t *testing.T) {
	need.Program(t, "buildah", "buildah")
	dir := t.TempDir()
	t.Cleanup(func() { buildahRemove(t, dir) })
	buildah := func(args ...string) string {
		store := []string{"--storage-driver=vfs", "--root=" + filepath.Join(dir, "root"), "--runroot=" + filepath.Join(dir, "run")}
		output, err := exec.CommandContext(t.Context(), "buildah", append(store, args...)...).Output()
		require.NoError(t, err, "buildah %s: %s", strings.Join(args, " "), output)
		return strings.TrimSpace(string(output))
	}
	_, last := instructions(t)
	text := func(instruction string) string {
		list, err := json.Marshal(words(t, last, instruction))
		require.NoError(t, err)
		return string(list)
	}
	program := build(t)
	var images []string
	var working string
	for range 2 {
		working = buildah("from", "scratch")
		buildah("copy", working, program, "/usr/local/bin/signpost")
		buildah("copy", "--chown=65532:65532", working, t.TempDir(), "/data")
		buildah("config", "--user=65532:65532", "--entrypoint="+text("ENTRYPOINT "), "--cmd="+strings.Join(words(t, last, "CMD "), " "), "--volume=/data", working)
		images = append(images, buildah("commit", "--timestamp=0", working))
	}
	require.Equal(t, images[0], images[1], "the digest of the image")
	require.Contains(t, buildah("run", "--isolation=chroot", working, "--", "/usr/local/bin/signpost", "version"), "signpost ")
}

// buildahRemove removes what buildah has mounted and stored.
func buildahRemove(t *testing.T, dir string) {
	t.Helper()
	command := exec.Command("buildah", "--storage-driver=vfs", "--root="+filepath.Join(dir, "root"), "--runroot="+filepath.Join(dir, "run"), "rm", "--all")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s: %s", err, output)
	}
}
