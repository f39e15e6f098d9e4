package linter_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/linter"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// script makes a program that stands for signpost-dns. A real one is run by the
// tests of cmd/signpost-dns.
func script(t *testing.T, directory, body string) string {
	t.Helper()
	file := filepath.Join(directory, "signpost-dns")
	syscall.ForkLock.RLock() // a child that another test forks now would hold the file open: "text file busy"
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	return file
}

// fine answers no findings.
const fine = `echo '{"findings":[]}'`

func lint(t *testing.T, body, text string) ([]corefile.Finding, error) {
	t.Helper()
	return linter.New(script(t, t.TempDir(), body)).Lint(t.Context(), text)
}

func TestFindingsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	findings, err := lint(t, `echo '{"findings":[{"line":3,"severity":"error","message":"no"}]}'`, "x")
	require.NoError(t, err)
	require.Equal(t, []corefile.Finding{{Line: 3, Severity: corefile.Error, Message: "no"}}, findings)
}

// The program gets the Corefile on its standard input, the word lint, and
// nothing else of the server: no environment, no directory of its own.
func TestTheProgramGetsTheCorefileAndNothingElse(t *testing.T) {
	t.Setenv("SECRET", "of the server")
	kept := filepath.Join(t.TempDir(), "seen")
	_, err := lint(t, `{ echo "$@"; /bin/pwd; /usr/bin/env | /bin/grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD=; /bin/cat; } >`+kept+"; "+fine, "the Corefile")
	require.NoError(t, err)
	seen, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "lint\n/\nthe Corefile", string(seen))
}

func TestThatCoreDNSDoesNotSurviveACorefileIsAFinding(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ reason, body, message string }{
		{"it says why", "echo 'signpost-dns: not done after 10 seconds' >&2; exit 1", "CoreDNS does not survive it: not done after 10 seconds"},
		{"it is killed", "kill -9 $$", "CoreDNS does not survive it: signal: killed"},
		{"it complains for ever", "while :; do echo 'fatal error: out of memory' || exit; done >&2 & sleep 0.2; kill $!; exit 2", "CoreDNS does not survive it: fatal error: out of memory"},
	} {
		findings, err := lint(t, `read line; if [ "$line" != ".:53 {" ]; then `+one.body+"; fi; "+fine, "odd\n")
		require.NoError(t, err, one.reason)
		require.Equal(t, []corefile.Finding{{Severity: corefile.Error, Message: one.message}}, findings, one.reason)
	}
}

func TestAProgramThatDoesNotWorkIsAConflict(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ reason, body, message string }{
		{"it fails always", "exit 3", "that works: exit status 3"},
		{"it knows no lint", "echo 'flag provided but not defined' >&2; exit 1", "that works: flag provided but not defined"},
		{"it answers something else", "echo hello", "its answer is not a list of findings"},
		{"it answers other JSON", "echo '{}'", "its answer is not a list of findings"},
		{"it answers for ever", "while :; do echo '{' || exit; done & sleep 0.2; kill $!", "its answer is not a list of findings"},
	} {
		_, err := lint(t, one.body, "x")
		require.Equal(t, intent.Conflict, intent.CodeOf(err), one.reason)
		require.ErrorContains(t, err, one.message, one.reason)
	}
	nothing := filepath.Join(t.TempDir(), "signpost-dns")
	require.NoError(t, os.WriteFile(nothing, []byte("#!/nowhere\n"), 0o700))
	_, err := linter.New(nothing).Lint(t.Context(), "x")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "cannot be run")
}

// A program that hangs ends with the request.
func TestAProgramThatHangsEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := linter.New(script(t, t.TempDir(), "exec sleep 300")).Lint(ctx, "x")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), 30*time.Second)
}

func TestOnlyAFewRunAtOnce(t *testing.T) {
	t.Parallel()
	gate, started := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "started")
	l := linter.New(script(t, t.TempDir(), "echo >>"+started+"; while [ ! -e "+gate+" ]; do sleep 0.05; done; "+fine))
	const all, atOnce = 4, 2
	done := make(chan error, all)
	for range all {
		go func() { _, err := l.Lint(t.Context(), "x"); done <- err }()
	}
	running := func() int {
		lines, err := os.ReadFile(started)
		if err != nil {
			return 0
		}
		return len(lines)
	}
	require.Eventually(t, func() bool { return running() >= atOnce }, 30*time.Second, time.Millisecond)
	require.Never(t, func() bool { return running() > atOnce }, 100*time.Millisecond, 10*time.Millisecond)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	for range all {
		require.NoError(t, <-done, "turns are given back")
	}
}

func TestATurnIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	program := script(t, t.TempDir(), fine)
	synctest.Test(t, func(t *testing.T) {
		l := linter.New(program)
		require.NoError(t, l.Enter(t.Context()))
		require.NoError(t, l.Enter(t.Context()))
		began := time.Now()
		_, err := l.Lint(t.Context(), "x")
		require.Equal(t, intent.Unavailable, intent.CodeOf(err))
		require.ErrorContains(t, err, "try again")
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestSignpostDNSIsFound(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	beside := filepath.Join(filepath.Dir(self), "signpost-dns")
	path, named := t.TempDir(), t.TempDir()
	t.Setenv("PATH", path)

	_, err = linter.New("").Program()
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "make build")
	require.ErrorContains(t, err, "--dns-binary")
	_, err = linter.New("").Lint(t.Context(), "x")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))

	onPath := script(t, path, fine)
	requireProgram(t, onPath, "")
	require.Equal(t, beside, script(t, filepath.Dir(self), fine))
	t.Cleanup(func() { _ = os.Remove(beside) })
	requireProgram(t, beside, "")
	requireProgram(t, script(t, named, fine), filepath.Join(named, "signpost-dns"))
	t.Chdir(named)
	requireProgram(t, filepath.Join(named, "signpost-dns"), "./signpost-dns")

	_, err = linter.New(filepath.Join(named, "other")).Program()
	require.Equal(t, intent.Conflict, intent.CodeOf(err), "what is named is not looked for elsewhere")
	require.ErrorContains(t, err, "--dns-binary")
}

func requireProgram(t *testing.T, want, named string) {
	t.Helper()
	found, err := linter.New(named).Program()
	require.NoError(t, err)
	require.Equal(t, want, found)
}
