// Package machine has what the tests need of a machine, and proves that whatever
// is missing is told in one line, before anything is tested.
package machine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// bench is a machine with the programs that the checks want, each of which can
// be taken away, or be another one.
type bench struct {
	*testing.T

	bin, tmp string
	env      map[string]string
}

// newBench has a go that has all modules and all programs.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, bin: t.TempDir(), tmp: t.TempDir()}
	b.env = map[string]string{"PATH": b.bin, "HOME": t.TempDir(), "TMPDIR": b.tmp}
	for _, name := range []string{"awk", "bash", "cat", "chmod", "df", "git", "grep", "head", "mkdir", "mktemp", "rm", "sh", "sort", "timeout"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(b.bin, name)))
	}
	b.program("go", b.goThat(`echo go99.1`, `exit 0`, `exit 0`))
	return b
}

// goThat is a go that answers for its version, for a list of packages, and when
// buildtools is run.
func (b *bench) goThat(version, list, run string) string {
	return `case "$1 $2" in
"env GOVERSION") ` + version + ` ;;
"env GOCACHE") echo ` + b.tmp + ` ;;
"list "*) ` + list + ` ;;
"run "*) ` + run + ` ;;
esac
`
}

func (b *bench) program(name, script string) {
	b.Helper()
	path := filepath.Join(b.bin, name)
	require.NoError(b, errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700)))
}

func (b *bench) without(name string) {
	b.Helper()
	require.NoError(b, os.Remove(filepath.Join(b.bin, name)))
}

// check makes the checks of ring 1, and returns what they said.
func (b *bench) check() (said string, err error) {
	b.Helper()
	bash, err := exec.LookPath("bash")
	require.NoError(b, err)
	cmd := exec.CommandContext(b.Context(), bash, "-euo", "pipefail", "-c",
		`source test/machine/machine.sh; check_machine "$TMPDIR/logs"; check_tools etcd coredns`)
	cmd.Dir = root
	cmd.Env = []string{} // and nothing of ours
	for name, value := range b.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	return stderr.String(), err
}

func TestAMachineThatHasAllIsNotToldAnything(t *testing.T) {
	said, err := newBench(t).check()
	require.NoError(t, err, said)
	require.Empty(t, said)
}

func TestWhatIsMissingIsToldInOneLine(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(b *bench){
		"go is not on the PATH; https://go.dev/dl has it": func(b *bench) { b.without("go") },
		"git is not on the PATH":                          func(b *bench) { b.without("git") },
		"go is 1.19.8, but go.mod wants 1.":               func(b *bench) { b.program("go", b.goThat(`echo go1.19.8`, `exit 1`, `exit 1`)) },
		"the go that is here does not fetch it: go: download go1.26.6: toolchain not available": func(b *bench) {
			b.program("go", b.goThat(`echo go: downloading >&2; echo go: download go1.26.6: toolchain not available >&2; exit 1`, `exit 1`, `exit 1`))
		},
		"HOME is not set": func(b *bench) { delete(b.env, "HOME") },
		"/dev/null/logs cannot be written; set SIGNPOST_TEST_LOGS": func(b *bench) { b.env["TMPDIR"] = "/dev/null" },
		"has 0 GiB left, and the tests need 4; free some, or set TMPDIR": func(b *bench) {
			b.program("df", `printf 'Filesystem 1024-blocks Used Available\ntmpfs 99999999 0 1048575\n'`)
		},
		"/dev/null/go cannot be written; set TMPDIR, or GOTMPDIR": func(b *bench) { b.env["GOTMPDIR"] = "/dev/null/go" },
		"no program can be run in":                                func(b *bench) { b.program("chmod", `exit 0`) },
		"not all modules of . are here, and they cannot be downloaded; check the network and GOPROXY: go: x@v1: no such host": func(b *bench) {
			b.program("go", b.goThat(`echo go99.1`, `echo go: downloading x >&2; echo go: x@v1: no such host >&2; echo more >&2; exit 1`, `exit 0`))
		},
		"these cannot be built without their modules: etcd coredns; check the network and GOPROXY": func(b *bench) {
			b.program("go", b.goThat(`echo go99.1`, `[ "$2" != -m ]`, `case "$*" in *--missing*) printf 'etcd\ncoredns\n' ;; *) exit 1 ;; esac`))
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			change(b)
			said, err := b.check()
			require.Error(t, err)
			require.Contains(t, said, want)
			require.Equal(t, 1, strings.Count(said, "\n"), said)
			require.True(t, strings.HasPrefix(said, "rings: "), said)
		})
	}
}

// TestWhatCanBeBuiltIsBuiltInItsTime, beside the first tests, if there is a
// network.
func TestWhatCanBeBuiltIsBuiltInItsTime(t *testing.T) {
	b := newBench(t)
	b.program("go", b.goThat(`echo go99.1`, `exit 0`, `case "$*" in *--missing*) echo etcd ;; *) exit 1 ;; esac`))
	said, err := b.check()
	require.NoError(t, err, said)
	require.Empty(t, said)
}
