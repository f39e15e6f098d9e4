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

// TestCompletionOffersShortPaths name by name, and nothing if the server does not answer.
func TestCompletionOffersShortPaths(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET projects", 200, "", `{"items":[{"metadata":{"name":"shop"}},{"metadata":{"name":"bakery"}}]}`)
	f.on("GET projects/shop/logical-clouds", 200, "", `{"items":[{"metadata":{"name":"eu"}}]}`)
	f.on("GET projects/shop/composite-apps", 200, "", `{"items":[{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}},{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v2"}},{"metadata":{"name":"till"},"spec":{"compositeAppVersion":"v7"}}]}`)
	f.on("GET projects/shop/composite-apps/store/v1/deployment-intent-groups", 200, "", `{"items":[{"metadata":{"name":"prod"}}]}`)
	for typed, want := range map[string]string{
		"":                   "bakery/\nshop/\n",
		"shop/":              "shop/eu\nshop/store/\nshop/till/\n",
		"shop/store/":        "shop/store/v1/\nshop/store/v2/\n",
		"shop/store/v1/":     "shop/store/v1/prod\n",
		"bakery/":            "",
		"shop/store/v1/x/y/": "",
	} {
		for _, command := range []string{"deploy", "status", "plan", "get", "delete"} {
			got := signpost(t, "", "__complete", command, "--server", f.url, typed)
			offered, _, _ := strings.Cut(got.out, ":")
			require.Equal(t, want, offered, command+" "+typed)
		}
	}
}
