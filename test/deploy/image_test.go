package deploy

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// instructions are the lines of the Dockerfile without comments, those of the
// last stage alone in the second result.
func instructions(t *testing.T) (all, last []string) {
	t.Helper()
	text := strings.ReplaceAll(read(t, filepath.Join(root, "deploy", "Dockerfile")), "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "FROM ") {
			last = nil
		}
		all, last = append(all, line), append(last, line)
	}
	return all, last
}

func TestImageIsPinnedAndNotRoot(t *testing.T) {
	all, last := instructions(t)
	pinned := regexp.MustCompile(`^FROM (--platform=\S+ )?[^\s:]+:[^\s@]+@sha256:[0-9a-f]{64}( AS \w+)?$`)
	for _, line := range all {
		if strings.HasPrefix(line, "FROM ") {
			require.Regexp(t, pinned, line)
		}
	}
	require.Contains(t, last, "USER 65532:65532")
	require.Contains(t, strings.Join(all, "\n"), "golang:"+goVersion(t)+"-", "the version of the toolchain is the one that tests the product")
}

// goVersion is the version of Go that runs the tests.
func goVersion(t *testing.T) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "env", "GOVERSION").Output()
	require.NoError(t, err)
	return strings.TrimPrefix(strings.TrimSpace(string(output)), "go")
}

// What the image's build runs leaves programs that need nothing of the image.
func TestImageProgramsAreStatic(t *testing.T) {
	all, _ := instructions(t)
	require.Contains(t, strings.Join(all, "\n"), "make build")
	output, err := exec.CommandContext(t.Context(), "make", "-C", root, "build").CombinedOutput()
	require.NoError(t, err, "%s", output)
	programs, err := os.ReadDir(filepath.Join(root, "bin"))
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	for _, program := range programs {
		file, err := elf.Open(filepath.Join(root, "bin", program.Name()))
		require.NoError(t, err)
		for _, part := range file.Progs {
			require.NotEqual(t, elf.PT_INTERP, part.Type, "%s wants a dynamic linker", program.Name())
		}
		require.NoError(t, file.Close())
	}
}

// The image by itself is the embedded default, on loopback inside: whoever
// wants it to be reached gives a token file, as compose and kustomize do.
func TestImageRuns(t *testing.T) {
	_, last := instructions(t)
	entrypoint, command := words(t, last, "ENTRYPOINT "), words(t, last, "CMD ")
	require.Equal(t, []string{"/usr/local/bin/signpost"}, entrypoint)
	require.Equal(t, "serve", command[0])
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("hush,admin,admin\n"), 0o600))
	free := addresses(t, 2)
	more := []string{"--listen=" + free[0], "--grpc-listen=" + free[1], "--token-file=" + tokens}
	container{args: append(command, more...)}.translated("/data", dir).serves(t, build(t), free[0], "hush")
}

// words is the list that an instruction gives.
func words(t *testing.T, lines []string, instruction string) []string {
	t.Helper()
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, instruction); ok {
			var list []string
			require.NoError(t, json.Unmarshal([]byte(text), &list))
			return list
		}
	}
	t.Fatalf("there is no %s", instruction)
	return nil
}
