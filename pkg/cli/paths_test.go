package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppliesWhatGetPrints as YAML: documents, collections and documents of files.
func TestAppliesWhatGetPrints(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	documents := write(t, "shop.yaml", `
resource: projects
metadata: {name: shop}
---
resource: projects/shop/composite-apps
metadata: {name: store}
spec: {compositeAppVersion: v1}
---
resource: projects/shop/composite-apps
metadata: {name: store}
spec: {compositeAppVersion: v2}
`)
	require.Equal(t, exitDone, signpost(t, f.url, "apply", "-f", documents).code)
	f.on("GET projects/shop/composite-apps", 200, "", `{"items":[`+f.documents["projects/shop/composite-apps/store/v1"]+`,`+f.documents["projects/shop/composite-apps/store/v2"]+`]}`)
	for want, args := range map[string][]string{
		"unchanged projects/shop\n":                         {"projects/shop"},
		"unchanged projects/shop/composite-apps/store/v1\n": {"projects/shop/composite-apps/store/v1"},
		"unchanged projects/shop/composite-apps/store/v1\nunchanged projects/shop/composite-apps/store/v2\n":                          {"projects/shop/composite-apps"},
		"unchanged projects/shop\nunchanged projects/shop/composite-apps/store/v1\nunchanged projects/shop/composite-apps/store/v2\n": {"-f", documents},
	} {
		printed := signpost(t, f.url, append([]string{"get", "-o", "yaml"}, args...)...)
		require.Equal(t, exitDone, printed.code, printed.err)
		got := signpost(t, f.url, "apply", "-f", write(t, "again.yaml", printed.out))
		require.Equal(t, result{exitDone, want, ""}, got, printed.out)
	}
}

func TestAnItemOfAListIsNamedByItsNumber(t *testing.T) {
	t.Parallel()
	got := signpost(t, "http://127.0.0.1:1", "apply", "-f", write(t, "list.json", `{"items":[{"resource":"projects","metadata":{"name":"a"}},{"resource":"project"}]}`))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "list.json, document 2 is not a valid document\n  /metadata/name: ")
}

// TestShortPathsAreReadAndDeleted: those that tables print.
func TestShortPathsAreReadAndDeleted(t *testing.T) {
	t.Parallel()
	for short, long := range map[string]string{
		"shop/store/v1/prod": prod,
		"shop/eu":            "projects/shop/logical-clouds/eu",
		"shop/eu/resolvers":  "projects/shop/logical-clouds/eu/dns-cr-intents/resolvers",
		"edge+berlin":        "cluster-providers/edge/clusters/berlin",
	} {
		f := newFake(t)
		f.documents[long], f.revisions[long] = `{"metadata":{"name":"x","revision":1},"spec":{}}`, 1
		got := signpost(t, f.url, "get", short, "-o", "json")
		require.Equal(t, exitDone, got.code, got.err)
		require.Equal(t, "deleted "+long+"\n", signpost(t, f.url, "delete", short).out)
	}
}

// TestCompletionOffersPaths name by name, whole and as tables print them, and nothing if the
// server does not answer.
func TestCompletionOffersPaths(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for collection, names := range map[string][]string{
		"projects": {"shop", "bakery"}, "projects/shop/logical-clouds": {"eu"}, "projects/shop/logical-clouds/eu/dns-cr-intents": {"resolvers"},
		"projects/shop/composite-apps/store/v1/deployment-intent-groups": {"prod"}, "projects/shop/dns-update-records": {"lab"},
		"cluster-providers": {"dc"}, "cluster-providers/dc/clusters": {"one", "two"}, "projects/default/names": {"a.example"}, "projects/shop/names": {"b.example"},
	} {
		f.on("GET "+collection, 200, "", `{"items":[{"metadata":{"name":"`+strings.Join(names, `"}},{"metadata":{"name":"`)+`"}}]}`)
	}
	f.on("GET projects/shop/composite-apps", 200, "", `{"items":[{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}},{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v2"}},{"metadata":{"name":"till"},"spec":{"compositeAppVersion":"v7"}}]}`)
	f.on("GET names?name=www%2A", 200, "FoundNamePage", strings.ReplaceAll(example(t, "foundNamePage"), "shop.lab", "www.lab"))
	const owners, paths, clusters, hosts = "deploy instantiate update rollback terminate status plan", "get delete", "preflight drain undrain abandon failover", "whois history"
	for _, test := range []struct{ commands, typed, want string }{
		{owners, "", "bakery/ projects/ shop/"},
		{paths, "", "bakery/ cluster-providers/ dc+ projects/ shop/"},
		{owners, "shop/", "shop/eu shop/store/ shop/till/"},
		{paths, "shop/", "shop/eu shop/eu/ shop/store/ shop/till/"},
		{owners + " " + paths, "shop/store/", "shop/store/v1/ shop/store/v2/"},
		{owners + " " + paths, "shop/store/v1/", "shop/store/v1/prod"},
		{owners + " " + paths, "bakery/", ""},
		{owners + " " + paths, "shop/store/v1/x/y/", ""},
		{owners, "projects/shop/", "projects/shop/composite-apps/ projects/shop/dns-update-records/ projects/shop/logical-clouds/"},
		{owners + " " + paths, "projects/shop/dns-update-records/", "projects/shop/dns-update-records/lab"},
		{paths, "projects/shop/composite-apps/till/", "projects/shop/composite-apps/till/v7 projects/shop/composite-apps/till/v7/"},
		{paths, "projects/shop/names/", "projects/shop/names/b.example"},
		{paths + " corefile_trace", "shop/eu/", "shop/eu/resolvers"},
		{paths, "dc+", "dc+one dc+two"},
		{clusters, "", "cluster-providers/ dc/"},
		{clusters, "dc/", "dc/one dc/two"},
		{"drain undrain failover", "dc/one dc/", "dc/one dc/two"},
		{"preflight abandon get status", "dc/one dc/", ""},
		{hosts, "www", "www.lab.example"},
		{"publish unpublish", "", "a.example"},
		{"publish unpublish", "--project shop b", "b.example"},
	} {
		for command := range strings.FieldsSeq(test.commands) {
			args := append(strings.Split(command, "_"), "--server", f.url)
			got := signpost(t, "", append(append([]string{"__complete"}, args...), strings.Split(test.typed, " ")...)...)
			offered, _, _ := strings.Cut(got.out, ":")
			require.Equal(t, test.want, strings.Join(strings.Fields(offered), " "), command+" "+test.typed)
			away := append(append([]string{"__complete"}, args[:len(args)-1]...), "http://127.0.0.1:1", "shop/")
			require.Equal(t, ":6\n", signpost(t, "", away...).out, command)
		}
	}
}
