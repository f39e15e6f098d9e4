package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startQuickstart is a service that has the documents of the quickstart, but for its app. Its
// provider lets a quarter of the names go at once.
func startQuickstart(t *testing.T) running {
	t.Helper()
	service := startService(t)
	for _, name := range []string{"clusters.yaml", "project.yaml", "record.yaml"} {
		got := signpost(t, service.url, "apply", "-f", filepath.Join(quickstart, name))
		require.Equal(t, exitDone, got.code, got.err)
	}
	return service
}

// TestPublishWaitsUntilTheNameIsInstantiated: the clusters have its objects then, although
// no external-dns has published it. A name that is never verified is not waited for longer than asked.
func TestPublishWaitsUntilTheNameIsInstantiated(t *testing.T) {
	t.Parallel()
	service := startQuickstart(t)
	publish := func(host string, args ...string) result {
		return signpost(t, service.url, append([]string{"publish", host, "--project", "shop", "--address", "203.0.113.7"}, args...)...)
	}
	got := publish("cake.lab.example", "--wait=instantiated")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "cake.lab.example Instantiated: published Unknown, verified Unknown\n")
	require.Regexp(t, `hub/shop-dns/dnsendpoint_cake-lab-example-\S*\.yaml`, strings.Join(service.manifests(t), "\n"))
	late := publish("cake.lab.example", "--wait=verified", "--timeout=50ms")
	require.Equal(t, exitTimeout, late.code, late.err)
	require.Contains(t, late.err, "cake.lab.example is not verified after 50ms")
}

// TestStatusCountsTheChangesThatAreNotDeployed, and names each document.
func TestStatusCountsTheChangesThatAreNotDeployed(t *testing.T) {
	t.Parallel()
	service := startQuickstart(t)
	store, err := os.ReadFile(filepath.Join(quickstart, "store.yaml"))
	require.NoError(t, err)
	apply := func(content string, args ...string) {
		t.Helper()
		got := withInput(t.Context(), service.url, content, append([]string{"apply", "-f", "-"}, args...)...)
		require.Equal(t, exitDone, got.code, got.err)
	}
	status := func(owner string) string { return signpost(t, service.url, "status", owner).out }
	apply(string(store), "--deploy")
	require.NotContains(t, status("shop/store/v1/prod"), "not deployed")
	apply(strings.Replace(string(store), "ttl: 30", "ttl: 60", 1))
	require.Contains(t, status("shop/store/v1/prod"), "1 change is not deployed: signpost deploy shop/store/v1/prod\n")
	require.Regexp(t, prod+`/traffic-group-intents/default/dns-intents/www +changed +1 +2\n`, status("shop/store/v1/prod"))
	record, err := os.ReadFile(filepath.Join(quickstart, "record.yaml"))
	require.NoError(t, err)
	apply(strings.Replace(string(record), "interval: 5s", "interval: 6s", 1))
	require.Contains(t, status("shop/store/v1/prod"), "2 changes are not deployed: signpost deploy shop/store/v1/prod\n")
	require.Contains(t, status("projects/shop/dns-update-records/lab"), "1 change is not deployed: signpost deploy projects/shop/dns-update-records/lab\n")
	for _, owner := range []string{"projects/shop/dns-update-records/lab", "shop/store/v1/prod"} {
		got := signpost(t, service.url, "deploy", owner)
		require.Equal(t, exitDone, got.code, got.err)
		require.NotContains(t, status(owner), "not deployed")
	}
}

// TestPruneStopsBeforeItTakesTooManyNames: maxRemoval counts the names that a prune takes
// together. Those that stay are published, and stay in the set.
func TestPruneStopsBeforeItTakesTooManyNames(t *testing.T) {
	t.Parallel()
	service := startQuickstart(t)
	names := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("resource: projects/shop/names\nmetadata: {name: n%d.lab.example}\nspec: {addresses: [203.0.113.7]}\n", i))
		}
		return strings.Join(all, "---\n")
	}
	file := filepath.Join(t.TempDir(), "names.yaml")
	apply := func(n int) result {
		require.NoError(t, os.WriteFile(file, []byte(names(n)), 0o600))
		return signpost(t, service.url, "apply", "-f", file, "--set", "web", "--prune")
	}
	set := func() string { return signpost(t, service.url, "get", "projects/shop/sets/web", "-o", "yaml").out }
	got := apply(9)
	require.Equal(t, exitDone, got.code, got.err)
	got = apply(1)
	require.Equal(t, exitFailed, got.code)
	require.Equal(t, 5, strings.Count(got.out, "pruned "), "five may always go")
	require.Equal(t, 3, strings.Count(got.err, `more than 25 % of the names of provider "lab" would go`), got.err)
	require.Contains(t, got.err, "3 of the documents that left the set could not be deleted; they stay in the set")
	require.Equal(t, 4, strings.Count(set(), "projects/shop/names/"))
}

// TestWhatGetPrintsIsWhatApplyTakes: each collection of a deployed quickstart is unchanged by
// it, and what was deleted comes back.
func TestWhatGetPrintsIsWhatApplyTakes(t *testing.T) {
	t.Parallel()
	service := startQuickstart(t)
	done := func(got result) string {
		t.Helper()
		require.Equal(t, exitDone, got.code, got.err)
		return got.out
	}
	extra := write(t, "extra.yaml", `resource: projects/shop/names
metadata: {name: cake.lab.example}
spec: {addresses: [203.0.113.7], ttl: 60}
---
resource: projects/shop/logical-clouds/eu/kv-pairs
metadata: {name: dns-update-record-list}
spec: {kv: [{a: lab}]}
---
resource: projects/shop/logical-clouds/eu/dns-cr-intents
metadata: {name: resolvers}
spec: {pluginConfig: {forwardPlugins: [{domain: corp.example, nameservers: [10.0.0.53]}]}}
---
resource: `+prod+`/traffic-group-intents/default/pod-dns-intents
metadata: {name: pods}
spec: {app: web, dnsPolicy: ClusterFirst, dnsConfig: {searches: [corp.example]}}
`)
	done(signpost(t, service.url, "apply", "-f", filepath.Join(quickstart, "store.yaml"), "-f", extra))
	for _, collection := range []string{
		"projects", "cluster-providers", "cluster-providers/edge/clusters", "projects/shop/dns-update-records", "projects/shop/logical-clouds",
		"projects/shop/logical-clouds/eu/kv-pairs", "projects/shop/logical-clouds/eu/dns-cr-intents", "projects/shop/composite-apps",
		"projects/shop/composite-apps/store/v1/deployment-intent-groups", prod + "/traffic-group-intents",
		prod + "/traffic-group-intents/default/dns-intents", prod + "/traffic-group-intents/default/pod-dns-intents", "projects/shop/names",
	} {
		printed := done(signpost(t, service.url, "get", collection, "-o", "yaml"))
		count := strings.Count(printed, "resource: "+collection)
		require.Positive(t, count, printed)
		applied := done(withInput(t.Context(), service.url, printed, "apply", "-f", "-"))
		require.Equal(t, count, strings.Count(applied, "unchanged "), "%s: %s", collection, applied)
		require.Equal(t, count, strings.Count(applied, "\n"), applied)
	}
	const intents = prod + "/traffic-group-intents/default/dns-intents"
	printed := done(signpost(t, service.url, "get", intents, "-o", "yaml"))
	done(signpost(t, service.url, "delete", intents+"/www"))
	require.Contains(t, done(withInput(t.Context(), service.url, printed, "apply", "-f", "-")), "created "+intents+"/www")
	require.Contains(t, done(signpost(t, service.url, "get", intents)), "www.lab.example")
}

// TestTheExportOfThePageMovesToAnEmptyServer: the commands of docs/cli.md, with another directory and servers of their own.
func TestTheExportOfThePageMovesToAnEmptyServer(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(repository, "docs", "cli.md"))
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "### Export documents")
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	from, to, dir := startService(t), startService(t), t.TempDir()
	require.Equal(t, exitDone, signpost(t, from.url, "apply", "-f", quickstart).code)
	require.Equal(t, exitDone, signpost(t, from.url, "publish", "moved.lab.example", "--project", "shop", "--address", "192.0.2.7").code)
	ran := 0
	for line := range strings.Lines(block) {
		words := strings.Fields(strings.NewReplacer("export", dir, "http://NEW:9018", to.url).Replace(line))
		if words[0] == "mkdir" {
			continue
		}
		command, file, server := words[1:], "", from.url
		if slices.Contains(words, "--server") {
			server = ""
		}
		if n := len(words); words[n-2] == ">" {
			command, file = words[1:n-2], words[n-1]
		}
		got := signpost(t, server, command...)
		require.Equal(t, exitDone, got.code, "%s: %s%s", line, got.out, got.err)
		if file != "" {
			require.NoError(t, os.WriteFile(file, []byte(got.out), 0o600))
		}
		ran++
	}
	require.Greater(t, ran, 5)
	require.Equal(t, exitDone, signpost(t, to.url, "get", "projects/shop/names/moved.lab.example").code)
}
