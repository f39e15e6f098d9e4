package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/internal/seed"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestDocumentsOfAFile(t *testing.T) {
	t.Parallel()
	file := write(t, "shop.yaml", `# the tenant
---
resource: projects
metadata: {name: shop}
---
# nothing here
---
resource: /v2/project/shop/composite-apps/
metadata:
  name: store
spec:
  compositeAppVersion: v1
status: {warnings: []}
---
{"resource":"cluster-providers","metadata":{"name":"edge"},"spec":{}}
{"resource":"cluster-providers/edge/clusters","metadata":{"name":"hub"},"spec":{"directory":"hub"}}
---
{resource: projects, metadata: {name: "on"}, spec: {}}
`)
	documents, err := (&document.Source{Files: []string{file}}).Read(nil, 0)
	require.NoError(t, err)
	var paths []intent.Path
	for i, d := range documents {
		require.Equal(t, i+1, d.Number)
		paths = append(paths, d.Path)
	}
	require.Equal(t, []intent.Path{"projects/shop", "projects/shop/composite-apps/store/v1", "cluster-providers/edge",
		"cluster-providers/edge/clusters/hub", "projects/on"}, paths)
	require.JSONEq(t, `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`, string(documents[1].Body))
	require.JSONEq(t, `{"metadata":{"name":"shop"}}`, string(documents[0].Body))
}

func TestDirectoriesAndStandardInput(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for name, content := range map[string]string{
		"b.yml":     "resource: projects\nmetadata: {name: b}",
		"a.yaml":    "resource: projects\nmetadata: {name: a}",
		"c.json":    `{"resource":"projects","metadata":{"name":"c"}}`,
		"README.md": "no document",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(directory, "deeper.yaml"), 0o700))
	documents, err := (&document.Source{Files: []string{directory, "-"}}).Read(strings.NewReader("resource: projects\nmetadata: {name: d}"), 0)
	require.NoError(t, err)
	var paths []string
	for _, d := range documents {
		paths = append(paths, string(d.Path))
	}
	require.Equal(t, []string{"projects/a", "projects/b", "projects/c", "projects/d"}, paths)
	require.Equal(t, "standard input, document 1", documents[3].String())
}

func TestEveryFaultOfEveryDocumentIsNamed(t *testing.T) {
	t.Parallel()
	file := write(t, "bad.yaml", `resource: projcts
metadata: {name: shop}
---
metadta: {name: shop}
kind/of: Project
---
resource: projects/shop/composite-apps
metadata: {name: a/b}
---
resource: projects/shop
metadata: {name: 7}
---
resource: projects
resource: projects
metadata: {name: x}
---
- a list
---
resource: projects
metadata: {name: fine}
---
resource: project
metadata: {name: fine}
---
resource: projects
metadata: {name: fine}
`)
	documents, err := (&document.Source{Files: []string{file}}).Read(nil, 0)
	require.Empty(t, documents)
	golden.Equal(t, "document_faults.golden", strings.ReplaceAll(err.Error(), file, "bad.yaml")+"\n")
}

func TestFilesWithoutDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "# only\n---\n# comments\n"} {
		_, err := (&document.Source{Files: []string{write(t, "empty.yaml", content)}}).Read(nil, 0)
		require.ErrorContains(t, err, "no document found")
	}
}

// TestOpenShiftsDNSObjectIsApplied: as it is, to the logical cloud that
// --resource names.
func TestOpenShiftsDNSObjectIsApplied(t *testing.T) {
	t.Parallel()
	objects, err := seed.DNS()
	require.NoError(t, err)
	const intents = "projects/shop/logical-clouds/eu/dns-cr-intents"
	file := write(t, "dns.yaml", objects["forwards"])
	f := newFake(t)
	got := signpost(t, f.url, "apply", "-f", file, "--resource", intents)
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, "created "+intents+"/default\n", got.out)
	sent, err := yaml.YAMLToJSON([]byte(objects["forwards"]))
	require.NoError(t, err)
	require.JSONEq(t, string(sent), f.documents[intents+"/default"])
	require.Equal(t, "deleted "+intents+"/default\n", signpost(t, f.url, "delete", "-f", file, "--resource", intents).out)

	got = signpost(t, f.url, "apply", "-f", file)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "is a DNS object of OpenShift: name its logical cloud with --resource projects/PROJECT/logical-clouds/LOGICAL-CLOUD/dns-cr-intents")
	require.NotContains(t, got.err, "is not a field")
	got = signpost(t, f.url, "apply", "-f", file, "--resource", "projects/shop/logical-clouds")
	require.Contains(t, got.err, "/apiVersion: is not a field of a document")
}

func TestADocumentsOwnResourceGoesFirst(t *testing.T) {
	t.Parallel()
	file := write(t, "two.yaml", "resource: projects\nmetadata: {name: a}\n---\nmetadata: {name: b}\n")
	documents, err := (&document.Source{Files: []string{file}, Resource: "cluster-providers"}).Read(nil, 0)
	require.NoError(t, err)
	require.Equal(t, intent.Path("projects/a"), documents[0].Path)
	require.Equal(t, intent.Path("cluster-providers/b"), documents[1].Path)
}

// FuzzDocuments: what is read has a path and a body that the server can be sent.
func FuzzDocuments(f *testing.F) {
	for _, text := range []string{
		"resource: projects\nmetadata: {name: shop}", `{"resource":"cluster-providers/edge/clusters","metadata":{"name":"hub"},"spec":{"directory":"hub"}}`, "resource: /v2/project/shop/composite-apps/\nmetadata: {name: s}\nspec: {compositeAppVersion: v1}",
		"version: emco/v2\nresourceContext: {anchor: projects}\nmetadata: {name: p}", "apiVersion: operator.openshift.io/v1\nkind: DNS", "{{ .Values }}", "- 1", "", "resource: [", "resource: ../..\nmetadata: {name: ..}",
	} {
		f.Add([]byte(text), "")
	}
	f.Add([]byte("metadata: {name: www}\nspec: {}"), "projects/shop/logical-clouds/eu/dns-cr-intents")
	f.Fuzz(func(t *testing.T, text []byte, resource string) {
		d, err := document.ReadDocument("file", 1, text, resource)
		if err != nil {
			require.Contains(t, err.Error(), "file")
			return
		}
		require.NotEmpty(t, d.Path.Name())
		require.NotEmpty(t, d.Path.Collection())
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(d.Body, &fields))
	})
}
