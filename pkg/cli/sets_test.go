package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocumentsThatLeaveASetArePruned: a DNS intent, whose name goes with the deployment of
// its group, a name document, and last the group itself with its provider.
func TestDocumentsThatLeaveASetArePruned(t *testing.T) {
	t.Parallel()
	service := startService(t)
	files := hastyQuickstart(t)
	file := func(name, content string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(files, name), []byte(content), 0o600))
	}
	store, err := os.ReadFile(filepath.Join(quickstart, "store.yaml"))
	require.NoError(t, err)
	const api = "\n---\nresource: " + prod + "/dns-intents\nmetadata: {name: api}\nspec: {app: web, serviceName: web, hostnames: [api.lab.example]}\n"
	file("store.yaml", string(store)+api)
	file("name.yaml", "resource: projects/shop/names\nmetadata: {name: cake.lab.example}\nspec: {addresses: [203.0.113.7]}\n")
	apply := func(args ...string) result {
		t.Helper()
		return signpost(t, service.url, append([]string{"apply", "-f", files, "--set", "web", "--prune"}, args...)...)
	}
	done := func(got result) string {
		t.Helper()
		require.Equal(t, exitDone, got.code, got.err)
		return got.out
	}

	first := done(apply("--deploy", "--wait"))
	require.Contains(t, first, "shop/store/v1/prod Instantiated")
	require.NotContains(t, first, "prune")
	require.Contains(t, done(signpost(t, service.url, "get", "projects/shop/sets")), "web")
	again := done(apply("--deploy", "--wait"))
	require.NotContains(t, again, "created")
	require.Contains(t, again, "as its documents say")

	taken := signpost(t, service.url, "apply", "-f", filepath.Join(files, "name.yaml"), "--set", "other")
	require.Equal(t, exitFailed, taken.code)
	require.Contains(t, taken.err, `"projects/shop/names/cake.lab.example" is in set "web"`)

	file("store.yaml", string(store))
	require.NoError(t, os.Remove(filepath.Join(files, "name.yaml")))
	planned := apply("--dry-run")
	require.Equal(t, exitChanges, planned.code, planned.err)
	require.Regexp(t, `delete +`+prod+`/traffic-group-intents/default/dns-intents/api`, planned.out)
	require.Regexp(t, `delete +api.lab.example`, planned.out)
	require.Regexp(t, `delete +cake.lab.example`, planned.out)
	second := done(apply("--deploy", "--wait"))
	require.Contains(t, second, "pruned "+prod+"/traffic-group-intents/default/dns-intents/api\n")
	require.Contains(t, second, "pruned projects/shop/names/cake.lab.example\n")
	require.NotContains(t, done(signpost(t, service.url, "status", "shop/store/v1/prod")), "api.lab.example")
	require.NotContains(t, done(apply("--deploy")), "pruned", "what is pruned is in no set")

	require.NoError(t, os.Remove(filepath.Join(files, "store.yaml")))
	require.NoError(t, os.Remove(filepath.Join(files, "record.yaml")))
	refused := apply()
	require.Equal(t, exitFailed, refused.code)
	require.Contains(t, refused.err, prod+": is Instantiated; terminate it first: signpost terminate shop/store/v1/prod --wait, or add --deploy")
	third := done(apply("--deploy"))
	for _, path := range []string{prod, "projects/shop/composite-apps/store/v1", "projects/shop/dns-update-records/lab"} {
		require.Contains(t, third, "pruned "+path+"\n")
	}
	require.Contains(t, done(signpost(t, service.url, "get", "projects/shop/sets/web", "-o", "yaml")), "documents:\n  - projects/shop/logical-clouds/eu\n")
	require.Contains(t, done(signpost(t, service.url, "get", "projects")), "shop", "a project and clusters stay")
}

func TestWhatIsNoSet(t *testing.T) {
	t.Parallel()
	record := write(t, "record.yaml", "{resource: projects/shop/dns-update-records, metadata: {name: lab}}\n---\n{resource: projects/bank/dns-update-records, metadata: {name: lab}}\n")
	for part, args := range map[string][]string{
		"--prune: name the set of the documents by --set": {"--prune"},
		"these are of shop and bank":                      {"--set", "web"},
		"these are of bank and shop":                      {"--set", "bank/web"},
	} {
		got := signpost(t, "http://127.0.0.1:1", append([]string{"apply", "-f", record}, args...)...)
		require.Equal(t, exitUsage, got.code, part+got.err)
		require.Contains(t, got.err, part)
	}
}

// TestASetThatSomebodyElseChangesIsNotPruned, and no document is applied that the set lacks.
func TestASetThatSomebodyElseChangesIsNotPruned(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	const web = "projects/shop/sets/web"
	f.on("PUT "+web, 412, "", `{"type":"about:blank","title":"Precondition Failed","status":412,"detail":"changed"}`)
	got := signpost(t, f.url, "apply", "--set", "web", "--prune", "-f", write(t, "record.yaml", "{resource: projects/shop/dns-update-records, metadata: {name: lab}}\n"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "somebody else has changed the set meanwhile; run the command again")
	require.Equal(t, []string{"PUT " + web}, f.seen())
}

// TestWhatAnotherSetHasIsNotPruned, although two sets got it at once.
func TestWhatAnotherSetHasIsNotPruned(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	const web, old = "projects/shop/sets/web", "projects/shop/dns-update-records/old"
	f.documents[web] = `{"metadata":{"name":"web"},"spec":{"documents":["` + old + `"]}}`
	f.revisions[web] = 1
	f.on("GET projects/shop/sets", 200, "DocumentSetList", `{"items":[{"metadata":{"name":"other"},"spec":{"documents":["`+old+`"]}}]}`)
	got := signpost(t, f.url, "apply", "--set", "web", "--prune", "-f", write(t, "record.yaml", "{resource: projects/shop/dns-update-records, metadata: {name: lab}}\n"))
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "left "+old+" to set other\n")
	require.NotContains(t, strings.Join(f.seen(), " "), "DELETE")
	require.Contains(t, f.documents[web], `"documents":["projects/shop/dns-update-records/lab"]`)
}

// TestASetCountsAllItsDocuments, also the project that is stored before the others.
func TestASetCountsAllItsDocuments(t *testing.T) {
	t.Parallel()
	const refused = `{"type":"about:blank","title":"Bad Request","status":400,"detail":"it is not valid"}`
	files := write(t, "shop.yaml", `resource: projects
metadata: {name: shop}
---
resource: projects/shop/names
metadata: {name: a.example}
---
resource: projects/shop/names
metadata: {name: b.example}
`)
	for path, says := range map[string]string{
		"projects/shop/names/a.example": "1 of 3 documents failed, 0 skipped",
		"projects/shop":                 "1 of 3 documents failed, 2 skipped",
	} {
		f := newFake(t)
		f.on("PUT "+path, 400, "Problem", refused)
		got := signpost(t, f.url, "apply", "--set", "web", "-f", files)
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, says)
	}
}
