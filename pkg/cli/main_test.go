package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// result is what a command line left behind.
type result struct {
	code     int
	out, err string
}

// signpost runs a command line against a server, if any.
func signpost(t *testing.T, server string, args ...string) result {
	t.Helper()
	return withInput(t.Context(), server, "", args...)
}

func withInput(ctx context.Context, server, input string, args ...string) result {
	var out, err bytes.Buffer
	p := terminal.Program{
		Poll: 20 * time.Millisecond, // a service does not get on while it is asked all the time
		In:   strings.NewReader(input),
		Out:  &out,
		Err:  &err,
	}
	if server != "" {
		args = append(args, "--server", server)
	}
	return result{Run(ctx, p, func(context.Context, app.Config) error { return errors.New("no service in this test") }, args), out.String(), err.String()}
}

// write makes a file in a directory of the test's own.
func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

func TestExitCodesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason string
		args   []string
		code   int
		says   string
	}{
		{"help", []string{"--help"}, exitDone, ""},
		{"nothing shows the help", nil, exitDone, ""},
		{"version", []string{"version"}, exitDone, ""},
		{"version as a flag", []string{"--version"}, exitDone, ""},
		{"completion", []string{"completion", "bash"}, exitDone, ""},
		{"an unknown command", []string{"aply"}, exitUsage, `unknown command "aply"; did you mean "apply"?`},
		{"an unknown command with flags", []string{"aply", "-f", "web.yaml"}, exitUsage, `unknown command "aply"; did you mean "apply"?`},
		{"a flag without a command", []string{"--fast"}, exitUsage, "--fast"},
		{"a command that is like no other", []string{"frobnicate"}, exitUsage, `unknown command "frobnicate"`},
		{"a source that import does not know", []string{"import", "endpoints"}, exitUsage, `unknown command "endpoints" of import; there are external-dns, kubernetes, octodns, zone`},
		{"an unknown flag", []string{"get", "--fast", "projects"}, exitUsage, "--fast"},
		{"a field of the API as a flag", []string{"publish", "www.shop.example", "--addresses", "192.0.2.7"}, exitUsage, "unknown flag: --addresses; did you mean --address?"},
		{"a name has no status of a group", []string{"status", "www.shop.example"}, exitUsage, "is a name; signpost whois"},
		{"nor is it a document", []string{"delete", "www.shop.example"}, exitUsage, "is a name; signpost whois"},
		{"nor has its path", []string{"terminate", "projects/shop/names/www.shop.example"}, exitUsage, "is a name; signpost whois"},
		{"an unknown format", []string{"get", "projects", "-o", "xml"}, exitUsage, "table, wide, json, yaml"},
		{"too few arguments", []string{"get"}, exitUsage, "takes one path"},
		{"no path", []string{"get", "projects//shop"}, exitUsage, "is not a path below /v2"},
		{"apply without files", []string{"apply"}, exitUsage, "-f is missing"},
		{"apply of what is not there", []string{"apply", "-f", "missing.yaml"}, exitUsage, "missing.yaml"},
		{"apply with an argument", []string{"apply", "web.yaml"}, exitUsage, "accepts no arguments"},
		{"delete of nothing", []string{"delete"}, exitUsage, "takes one path, or files by -f"},
		{"delete of both", []string{"delete", "projects/p", "-f", "x"}, exitUsage, "takes one path, or files by -f"},
		{"no group", []string{"status", "prod"}, exitUsage, "project/composite-app/version/group"},
		{"no action", []string{"plan", "shop/store/v1/prod", "--for", "destroy"}, exitUsage, "--for"},
		{"an action for a record's plan", []string{"plan", "projects/p/dns-update-records/r", "--for", "terminate"}, exitUsage, "a provider is only deployed or updated"},
		{"instantiate of a record", []string{"instantiate", "projects/p/dns-update-records/r"}, exitUsage, "\"projects/p/dns-update-records/r\" is not a deployment intent group"},
		{"waiting for a record", []string{"update", "projects/p/dns-update-records/r", "--wait"}, exitUsage, "--wait"},
		{"no server", []string{"get", "projects", "--server", "127.0.0.1:1"}, exitUsage, "--server"},
		{"two tokens", []string{"get", "projects", "--token", "a", "--token-file", "b"}, exitUsage, "exclude each other"},
		{"a token file that is not there", []string{"get", "projects", "--token-file", "missing"}, exitUsage, "missing"},
		{"nobody listens", []string{"get", "projects", "--server", "http://127.0.0.1:1"}, exitUnreachable, "cannot be reached"},
	} {
		got := signpost(t, "", test.args...)
		require.Equal(t, test.code, got.code, "%s: %s", test.reason, got.err)
		require.Contains(t, got.err, test.says, test.reason)
		require.Equal(t, test.code == exitUsage, strings.Contains(got.err, "--help"), test.reason)
	}
}

// TestHelpNamesEveryCommandAndExitCode, each in one place, on one screen.
func TestHelpNamesEveryCommandAndExitCode(t *testing.T) {
	t.Parallel()
	got := signpost(t, "", "--help")
	named := map[string]int{}
	for line := range strings.Lines(got.out) {
		if commands, is := strings.CutPrefix(line, "  "); is {
			commands, _, _ = strings.Cut(commands, "  ")
			for word := range strings.SplitSeq(strings.TrimSpace(commands), ", ") {
				named[word]++
			}
		}
	}
	for _, command := range Command(terminal.Program{}, app.Run).Commands() {
		require.Equal(t, 1, named[command.Name()], command.Name())
	}
	for code := exitDone; code <= exitTimeout; code++ {
		require.Contains(t, got.out, fmt.Sprintf(" %d ", code))
	}
	require.LessOrEqual(t, strings.Count(got.out, "\n"), 45)
}

func TestServersTokenListIsNoToken(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"t0ken,anna,admin\n", "one\ntwo\n", "", "  \n"} {
		got := signpost(t, "", "get", "projects", "--token-file", write(t, "tokens", content))
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, "must hold a single token")
	}
}

// beSignpost is the variable that makes the test program signpost itself, for
// the tests that need it as a process.
const beSignpost = "BE_SIGNPOST"

func TestMain(m *testing.M) {
	if os.Getenv(beSignpost) != "" {
		os.Exit(Main())
	}
	for _, name := range []string{"SIGNPOST_SERVER", "SIGNPOST_TOKEN", "SIGNPOST_CONFIG"} {
		_ = os.Unsetenv(name) // the tests' own alone
	}
	if err := flag.Set("test.parallel", "6"); err != nil { // as in make test: most tests wait for a server; -parallel is read later
		panic(err)
	}
	os.Exit(m.Run())
}

// kubectl finds the program as kubectl-signpost. Its help and its errors name
// the command that the user typed.
func TestThePluginOfKubectlSaysWhatTheUserTyped(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/usr/local/bin/signpost": "signpost", "signpost.exe": "signpost", "/tmp/copy-of-signpost": "signpost",
		"/root/.krew/bin/kubectl-signpost": "kubectl signpost", "kubectl-signpost.exe": "kubectl signpost",
	} {
		require.Equal(t, want, calledAs(path), path)
		var out, problems strings.Builder
		program := terminal.Program{Name: calledAs(path), In: strings.NewReader(""), Out: &out, Err: &problems}
		require.Equal(t, exitDone, Run(t.Context(), program, app.Run, []string{"get", "--help"}))
		require.Contains(t, out.String(), "\n  "+want+" get PATH", "usage")
		require.Equal(t, exitUsage, Run(t.Context(), program, app.Run, []string{"get", "--fast"}))
		require.True(t, strings.HasPrefix(problems.String(), want+" get: "), problems.String())
		require.Contains(t, problems.String(), "See "+want+" get --help.")
	}
}
