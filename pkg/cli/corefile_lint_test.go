package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const badCorefile = "foo.com:5353 {\n forward . 1.2.3.4\n policy round_robin\n}\n"

// findings are what the linters of these tests find.
const findings = `{"findings":[{"line":0,"severity":"warning","message":"odd"},{"line":3,"severity":"error","message":"there is no plugin \"policy\""}]}`

// dnsBinary stands for signpost-dns: it answers this, and keeps what it is given.
func dnsBinary(t *testing.T, answer string) (file, given string) {
	t.Helper()
	directory := t.TempDir()
	file, given = filepath.Join(directory, "signpost-dns"), filepath.Join(directory, "given")
	script := "#!/bin/sh\n/bin/cat >" + given + "\necho '" + answer + "'\n"
	syscall.ForkLock.RLock() // a child that another test forks now would hold the file open: "text file busy"
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(file, []byte(script), 0o700))
	return file, given
}

func TestLintPrintsFindingsAsEditorsKnowThem(t *testing.T) {
	t.Parallel()
	binary, given := dnsBinary(t, findings)
	file := write(t, "Corefile", badCorefile)
	got := signpost(t, "", "corefile", "lint", file, "--dns-binary", binary)
	require.Equal(t, result{
		exitFailed,
		file + ": warning: odd\n" + file + `:3: error: there is no plugin "policy"` + "\n",
		"signpost corefile lint: 1 error\n",
	}, got)
	content, err := os.ReadFile(given)
	require.NoError(t, err)
	require.Equal(t, badCorefile, string(content))
	got = signpost(t, "", "corefile", "lint", file, "--dns-binary", binary, "-o", "json")
	require.Equal(t, exitFailed, got.code)
	require.JSONEq(t, findings, got.out)
}

func TestLintOfStandardInput(t *testing.T) {
	t.Parallel()
	binary, given := dnsBinary(t, `{"findings":[{"line":2,"severity":"warning","message":"a\u001b[31mred"}]}`)
	got := withInput(t.Context(), "", badCorefile, "corefile", "lint", "-", "--dns-binary", binary)
	require.Equal(t, result{exitDone, "<stdin>:2: warning: a\\x1b[31mred\n", ""}, got, "a warning is no error")
	content, err := os.ReadFile(given)
	require.NoError(t, err)
	require.Equal(t, badCorefile, string(content))
}

func TestLintAtAServer(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST corefile/lint", 200, "CorefileFindings", findings)
	got := signpost(t, f.url, "corefile", "lint", write(t, "Corefile", badCorefile))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, `Corefile:3: error: there is no plugin "policy"`)
	f = newFake(t)
	f.on("POST corefile/lint", 409, "Problem", `{"type":"about:blank","title":"Conflict","status":409,"detail":"there is no signpost-dns"}`)
	got = signpost(t, f.url, "corefile", "lint", write(t, "Corefile", badCorefile))
	require.Equal(t, result{exitFailed, "", "signpost corefile lint: there is no signpost-dns\n"}, got)
}

func TestLintOfWhatIsNotThere(t *testing.T) {
	binary, _ := dnsBinary(t, `{"findings":[]}`)
	file := write(t, "Corefile", badCorefile)
	t.Setenv("PATH", t.TempDir())
	for _, one := range []struct {
		reason string
		args   []string
		code   int
		says   string
	}{
		{"no file", []string{"none", "--dns-binary", binary}, exitUsage, "none"},
		{"no argument", []string{"--dns-binary", binary}, exitUsage, "takes one file"},
		{"no signpost-dns", []string{file}, exitFailed, "make build"},
		{"no such signpost-dns", []string{file, "--dns-binary", "none"}, exitFailed, "--dns-binary names no program"},
		{"nothing wrong", []string{file, "--dns-binary", binary}, exitDone, ""},
	} {
		got := signpost(t, "", append([]string{"corefile", "lint"}, one.args...)...)
		require.Equal(t, one.code, got.code, one.reason)
		require.Contains(t, got.err, one.says, one.reason)
		require.Empty(t, got.out, one.reason)
	}
	require.Contains(t, signpost(t, "", "corefile").out, "lint")
}

func TestServeRefusesADNSBinaryThatIsNone(t *testing.T) {
	t.Parallel()
	got := signpost(t, "", "serve", "--dns-binary", write(t, "text", "no program"))
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "--dns-binary names no program")
	require.Contains(t, got.err, "permission denied")
}
