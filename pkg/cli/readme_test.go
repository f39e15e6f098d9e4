package cli

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/session"
	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// TestSessionsOfTheDocumentation runs the sessions of a page, those in
// ```console, one after the other against a server that has the quickstart, as
// `make run` leaves it.
func TestSessionsOfTheDocumentation(t *testing.T) {
	for _, page := range []string{"README.md", "docs/cluster-dns.md", "docs/pod-dns.md"} {
		t.Run(page, func(t *testing.T) {
			service := startService(t)
			t.Setenv("SIGNPOST_SERVER", service.url)
			require.Equal(t, exitDone, signpost(t, "", "apply", "-f", quickstart).code)
			require.Equal(t, exitDone, signpost(t, "", "instantiate", "shop/store/v1/prod", "--wait").code)
			if page == "README.md" { // its readers have the address after the change
				store, err := os.ReadFile(filepath.Join(quickstart, "store.yaml"))
				require.NoError(t, err)
				changed := write(t, "store.yaml", strings.ReplaceAll(string(store), "203.0.113.10", "203.0.113.20"))
				require.Equal(t, exitDone, signpost(t, "", "apply", "--deploy", "--wait", "-f", changed).code)
			}

			t.Chdir(repository)
			content, err := os.ReadFile(page)
			require.NoError(t, err)
			exchanges := session.Exchanges(string(content))
			require.NotEmpty(t, exchanges)
			variables := map[string]string{}
			for _, e := range exchanges {
				got := execute(t, e.Command, variables, service.url)
				assert.Equal(t, session.Normal(e.Output), session.Normal(strings.ReplaceAll(got, service.url, "http://127.0.0.1:9018")), "$ %s", e.Command)
			}
		})
	}
}

// TestThePagesHaveEveryFlagAndCommand: operations.md has the flags, cli.md the commands.
func TestThePagesHaveEveryFlagAndCommand(t *testing.T) {
	t.Parallel()
	flags, err := os.ReadFile(filepath.Join(repository, "docs", "operations.md"))
	require.NoError(t, err)
	commands, err := os.ReadFile(filepath.Join(repository, "docs", "cli.md"))
	require.NoError(t, err)
	root := Command(terminal.Program{}, app.Run)
	serve, _, err := root.Find([]string{"serve"})
	require.NoError(t, err)
	serve.Flags().VisitAll(func(flag *pflag.Flag) {
		assert.Contains(t, string(flags), "`--"+flag.Name+"`")
	})
	for _, command := range root.Commands() {
		assert.Regexp(t, `signpost `+command.Name()+`\b`, string(commands))
	}
}

// repository is where the pages' commands are run.
const repository = "../.."

// execute runs one command: an assignment, curl or signpost.
func execute(t *testing.T, command string, variables map[string]string, server string) string {
	t.Helper()
	words := shellWords(command, variables)
	require.NotEmpty(t, words)
	if name, value, assigns := strings.Cut(words[0], "="); assigns && len(words) == 1 {
		variables[name] = strings.ReplaceAll(value, "http://127.0.0.1:9018", server)
		return ""
	}
	if pipe := slices.Index(words, "|"); pipe > 0 {
		filter := exec.CommandContext(t.Context(), words[pipe+1], words[pipe+2:]...)
		filter.Stdin = strings.NewReader(run(t, words[:pipe]))
		out, err := filter.Output()
		require.NoError(t, err, command)
		return string(out)
	}
	return run(t, words)
}

func run(t *testing.T, words []string) string {
	t.Helper()
	switch words[0] {
	case "curl":
		return curl(t, words[1:])
	case "bin/signpost":
		got := signpost(t, "", words[1:]...)
		if got.code == exitDone {
			return got.out
		}
		return got.out + got.err
	}
	require.Fail(t, "no command of a session", words)
	return ""
}

// curl understands as much of curl as the sessions need.
func curl(t *testing.T, args []string) string {
	t.Helper()
	method, address, body, media := http.MethodGet, "", "", "application/json"
	for len(args) > 0 {
		switch args[0] {
		case "-s":
			args = args[1:]
		case "-X":
			method, args = args[1], args[2:]
		case "--json":
			method, body, args = http.MethodPost, args[1], args[2:]
		case "-H":
			media, args = strings.TrimPrefix(args[1], "Content-Type: "), args[2:]
		case "--data-binary":
			content, err := os.ReadFile(strings.TrimPrefix(args[1], "@"))
			require.NoError(t, err)
			method, body, args = http.MethodPost, string(content), args[2:]
		default:
			require.NotContains(t, args[0][:1], "-", "no flag of the sessions' curl")
			address, args = args[0], args[1:]
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		request.Header.Set("Content-Type", media)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(answer)
}

// shellWords splits a command as a shell does: quotes, variables outside of
// single quotes, and escaped line ends.
func shellWords(command string, variables map[string]string) []string {
	name := regexp.MustCompile(`\$\w+`)
	part := regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+|\s+`)
	var words []string
	word, begun := "", false
	for _, piece := range part.FindAllString(strings.ReplaceAll(command, "\\\n", " "), -1) {
		switch {
		case strings.TrimSpace(piece) == "":
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
			continue
		case piece[0] == '\'':
			word += strings.Trim(piece, "'")
		default:
			word += name.ReplaceAllStringFunc(strings.Trim(piece, `"`), func(v string) string { return variables[v[1:]] })
		}
		begun = true
	}
	if begun {
		words = append(words, word)
	}
	return words
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	variables := map[string]string{"B": "http://x", "DIG": "http://x/dig"}
	require.Equal(t, []string{"curl", "--json", `{"a":"$B c"}`, "http://x/p", "http://x/dig?x y"},
		shellWords("curl --json '{\"a\":\"$B c\"}' \\\n  $B/p \"$DIG?x y\"\n", variables))
}
