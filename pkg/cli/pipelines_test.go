package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
)

// TestThePipelinesOfTheirPageRun: the scripts of docs/pipelines.md, that of a pull request by
// an editor of one project without the right to deploy, on a server that has the quickstart.
func TestThePipelinesOfTheirPageRun(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(repository, "docs", "pipelines.md"))
	require.NoError(t, err)
	tokens := write(t, "tokens", "adm,anna,admin\nope,olga,operator,shop\npr,emil,editor,shop\n")
	service := startService(t, func(c *app.Config) { c.TokenFile = tokens })
	checkout := t.TempDir()
	files := filepath.Join(checkout, "dns")
	require.NoError(t, os.Mkdir(files, 0o700))
	for _, name := range []string{"project.yaml", "record.yaml", "store.yaml"} {
		content, err := os.ReadFile(filepath.Join(quickstart, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(files, name), content, 0o600))
	}
	require.Equal(t, exitDone, signpost(t, service.url, "apply", "-f", quickstart, "--token", "adm").code)

	run := func(script, token string) (string, error) {
		t.Helper()
		text := regexp.MustCompile("(?s)```sh\n# " + script + "\n(.*?)```").FindStringSubmatch(string(page))
		require.NotNil(t, text, script)
		return pipeline(t, text[1], checkout, service.url, token)
	}
	out, err := run("pull-request.sh", "pr")
	require.NoError(t, err, out)
	require.Contains(t, out, "Please review the changes above.", "nothing is deployed yet")
	require.Contains(t, out, "www.lab.example")

	out, err = run("main.sh", "pr")
	require.Error(t, err, "an editor does not deploy")
	require.Contains(t, out, "needs the role operator")
	out, err = run("main.sh", "ope")
	require.NoError(t, err, out)
	require.Contains(t, out, "shop/store/v1/prod Instantiated")
	out, err = run("pull-request.sh", "pr")
	require.NoError(t, err, out)
	require.Contains(t, out, "Nothing would change.\nThis branch changes nothing.\n")

	store := filepath.Join(files, "store.yaml")
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	change := func(from, to string) {
		t.Helper()
		require.NoError(t, os.WriteFile(store, []byte(strings.Replace(string(content), from, to, 1)), 0o600))
	}
	change("www.lab.example", "new.lab.example")
	intents := prod + "/dns-intents"
	before := signpost(t, service.url, "get", intents, "-o", "json", "--token", "ope").out
	out, err = run("pull-request.sh", "pr")
	require.NoError(t, err, out)
	require.Regexp(t, `create +new.lab.example`, out)
	require.Regexp(t, `delete +www.lab.example`, out)
	require.Contains(t, out, "Please review the changes above.")
	require.Equal(t, before, signpost(t, service.url, "get", intents, "-o", "json", "--token", "ope").out, "nothing was stored")
	require.Contains(t, signpost(t, service.url, "status", "shop/store/v1/prod", "--token", "ope").out, "Instantiated  (release 1,", "nothing was deployed")

	change("www.lab.example", "www.nobody.example")
	out, err = run("pull-request.sh", "pr")
	require.Error(t, err)
	require.Contains(t, out, "www.nobody.example")
	change("ttl: 30", "ttl: soon")
	out, err = run("pull-request.sh", "pr")
	require.Error(t, err)
	require.Regexp(t, `store.yaml, document 3 .*: /spec/ttl: `, out)

	change("www.lab.example", "new.lab.example")
	out, err = run("main.sh", "ope")
	require.NoError(t, err, out)
	require.Contains(t, out, "configured projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/dns-intents/www")
	require.Contains(t, out, "shop/store/v1/prod Instantiated (release 2,")
	again, err := run("main.sh", "ope")
	require.NoError(t, err, again)
	require.NotContains(t, again, "configured")
	require.Contains(t, again, "shop/store/v1/prod Instantiated (release 2,")

	require.Equal(t, exitDone, signpost(t, service.url, "publish", "fixed.lab.example", "--project", "shop", "--address", "203.0.113.9", "--wait=instantiated", "--token", "ope").code)
	name := signpost(t, service.url, "get", "projects/shop/names/fixed.lab.example", "-o", "yaml", "--token", "ope").out
	planned := signpost(t, service.url, "plan", "-f", write(t, "name.yaml", name), "--token", "pr")
	require.Equal(t, exitDone, planned.code, planned)
	require.Contains(t, planned.out, "Nothing would change.")
	require.NoError(t, service.stop())
}

// pipeline runs a script in a directory, with this test program as signpost.
func pipeline(t *testing.T, script, directory, server, token string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "signpost")))
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Dir = directory
	command.Env = append(os.Environ(), beSignpost+"=1", "SIGNPOST_SERVER="+server, "SIGNPOST_TOKEN="+token, "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	return string(out), err
}
