package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// The way from an empty server to a verified name in two clusters, counted. docs/names-api.md tells the same numbers.
const (
	commandsToAName = 4 // one for the provider, one for each cluster, one for the name
	requestsToAName = 6 // and one for the project, and one for the cluster provider
)

// counted runs programs beside a Signpost, and counts the runs.
type counted struct {
	*story

	runs int
}

// run runs a program, which has to succeed, and returns what it prints.
func (c *counted) run(program string, args ...string) string {
	c.Helper()
	c.runs++
	server, err := c.signpost.URL()
	c.must(err)
	command := exec.CommandContext(c.Context(), program, args...)
	command.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + c.TempDir(), "SIGNPOST_SERVER=" + server}
	output, err := command.CombinedOutput()
	if err != nil {
		c.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, output)
	}
	return string(output)
}

// curl sends a document to a path.
func (c *counted) curl(method, path, body string) string {
	c.Helper()
	server, err := c.signpost.URL()
	c.must(err)
	return c.run("/usr/bin/curl", "-sS", "--fail-with-body", "-X", method, server+c.words.Replace(path), "-H", "Content-Type: application/json", "-d", c.words.Replace(body))
}

// beginCounted starts an empty server beside a Service in two clusters.
func beginCounted(t *testing.T, project string) *counted {
	t.Helper()
	s := beginEmpty(t, sharedWorld(t), project, "--allow-local-verify", "--publisher-servers=127.0.0.1")
	s.loadBalancers()
	return &counted{story: s}
}

// builtInProvider is BIND, written to by Signpost itself.
func (c *counted) builtInProvider() string {
	return rfc2136Record(fmt.Sprintf(`"verify": {"servers": [%q]}, "deployOn": {"publisher": "built-in"}`, c.world.BIND.Address))
}

func TestANameIsFourCommandsFromAnEmptyServer(t *testing.T) {
	t.Parallel()
	c := beginCounted(t, "commands")
	provider := filepath.Join(t.TempDir(), "provider.yaml")
	c.must(os.WriteFile(provider, []byte(c.words.Replace(
		`{"resource": "projects", "metadata": {"name": "default"}, "spec": {}}`+"\n---\n"+
			strings.Replace(c.builtInProvider(), "{", `{"resource": "projects/default/dns-update-records",`, 1))), 0o600))

	c.run(signpost(t), "apply", "-f", provider)
	for _, cluster := range []string{fixture.Paris, fixture.Berlin} {
		kubeconfig, err := c.world.Cluster(cluster).Kubeconfig(kube.Admin)
		c.must(err)
		file := filepath.Join(t.TempDir(), "kubeconfig")
		c.must(os.WriteFile(file, kubeconfig, 0o600))
		c.run(signpost(t), "connect", cluster, "--kubeconfig", file, "--as", "edge/"+cluster, "--for", "addresses")
	}
	told := c.run(signpost(t), "publish", c.words.Replace("www.{corp}"), "--service", c.words.Replace("{p}/web"), "--clusters", "edge/paris,edge/berlin", "--wait=verified")

	c.must(c.answering("www.{corp}", parisAddress, berlinAddress))
	if c.runs != commandsToAName || !strings.Contains(told, "verified True") {
		t.Errorf("after %d commands instead of %d: %s", c.runs, commandsToAName, told)
	}
}

func TestANameIsSixRequestsFromAnEmptyServer(t *testing.T) {
	t.Parallel()
	c := beginCounted(t, "requests")
	c.curl("POST", "/v2/projects", `{"metadata": {"name": "{p}"}, "spec": {}}`)
	c.curl("POST", "/v2/projects/{p}/dns-update-records", c.builtInProvider())
	c.curl("POST", "/v2/cluster-providers", `{"metadata": {"name": "edge"}, "spec": {}}`)
	for _, cluster := range []string{fixture.Paris, fixture.Berlin} {
		c.curl("POST", "/v2/cluster-providers/edge/clusters", c.registration(cluster, cluster))
	}
	told := c.curl("PUT", "/v2/projects/{p}/names/www.{corp}?wait=verified&timeout=60s",
		`{"metadata": {"name": "www.{corp}"}, "spec": {"service": "{p}/web", "clusters": ["edge/paris", "edge/berlin"]}}`)

	c.must(c.answering("www.{corp}", parisAddress, berlinAddress))
	if c.runs != requestsToAName || !strings.Contains(told, `"verified":"True"`) {
		t.Errorf("after %d requests instead of %d: %s", c.runs, requestsToAName, told)
	}
}
