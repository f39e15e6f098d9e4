package deploy

import (
	"debug/elf"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/need"
)

// TestAnImageFromScratchIsReproducibleAndRuns: without a daemon and without any base image, two
// builds of the release's image have one digest. Its program asks for no other file of the image,
// neither a loader nor a library, and runs.
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
	require.Contains(t, alone(t, filepath.Join(buildah("mount", working), "usr/local/bin/signpost"), "version"), "signpost ")
}

// alone runs a program that is linked statically, as an image without any other file does.
func alone(t *testing.T, program string, args ...string) string {
	t.Helper()
	binary, err := elf.Open(program)
	require.NoError(t, err)
	defer func() { require.NoError(t, binary.Close()) }()
	for _, segment := range binary.Progs {
		require.NotEqual(t, elf.PT_INTERP, segment.Type, "%s wants a loader", program)
	}
	libraries, err := binary.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries)
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = []string{}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}

// buildahRemove removes what buildah has mounted and stored.
func buildahRemove(t *testing.T, dir string) {
	t.Helper()
	command := exec.Command("buildah", "--storage-driver=vfs", "--root="+filepath.Join(dir, "root"), "--runroot="+filepath.Join(dir, "run"), "rm", "--all")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s: %s", err, output)
	}
}
