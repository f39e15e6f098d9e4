package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/directory"
)

const installation = "inst-1"

// scanEvery is how often directories are scanned here: soon, as tests wait for it.
const scanEvery = 20 * time.Millisecond

func openDirectory(t *testing.T, root string) *directory.Directory {
	t.Helper()
	d, err := directory.NewDirectory(root, "edge/gitops", cluster.Options{Installation: installation, ScanEvery: scanEvery})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

func fileOf(id bundle.ID) string {
	folder := id.Namespace
	if folder == "" {
		folder = "_cluster"
	}
	return filepath.Join("edge/gitops", folder, strings.ToLower(id.Kind)+"_"+id.Name+".yaml")
}

func writeFile(t *testing.T, root, at, content string) {
	t.Helper()
	path := filepath.Join(root, at)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func readFile(t *testing.T, root, at string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, at))
	require.NoError(t, err)
	return string(raw)
}

func configMap(t *testing.T, name, value string) bundle.Object {
	t.Helper()
	return clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"}, "data": map[string]string{"key": value}})
}

func TestDirectoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T) clustertest.Fixture {
		root := t.TempDir()
		return clustertest.Fixture{
			Target: openDirectory(t, root), Installation: installation, Namespace: "shop", Directory: true,
			Plant: func(t *testing.T, o bundle.Object) {
				raw, err := yaml.JSONToYAML(o.JSON)
				require.NoError(t, err)
				writeFile(t, root, fileOf(o.ID), "# by hand\n"+string(raw))
			},
			Remove: func(t *testing.T, id bundle.ID) {
				require.NoError(t, os.Remove(filepath.Join(root, fileOf(id))))
			},
		}
	})
}

func TestDirectoryHasOneFilePerObject(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDirectory(t, root)
	_, err := d.Create(t.Context(), configMap(t, "settings", "1"))
	require.NoError(t, err)
	_, err = d.Create(t.Context(), clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}))
	require.NoError(t, err)
	assert.Equal(t, `apiVersion: v1
data:
  key: "1"
kind: ConfigMap
metadata:
  labels:
    app.kubernetes.io/managed-by: signpost
    signpost.dev/installation: inst-1
  name: settings
  namespace: shop
`, readFile(t, root, "edge/gitops/shop/configmap_settings.yaml"))
	assert.FileExists(t, filepath.Join(root, "edge/gitops/_cluster/namespace_shop.yaml"))
	entries, err := os.ReadDir(filepath.Join(root, "edge/gitops/shop"))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")
}

func TestDirectoryLeavesForeignFilesAlone(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"an object without our label":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n",
		"of another installation":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, labels: {signpost.dev/installation: other}}\n",
		"another object under our name": "apiVersion: v2\nkind: Else\nmetadata: {name: settings, labels: {signpost.dev/installation: inst-1}}\n",
		"what is not an object":         "just: text\n",
		"what is not YAML":              "\t{{ template }}\n",
		"what aliases make large":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop, labels: {signpost.dev/installation: inst-1}}\ndata: {a: &a \"" + strings.Repeat("a", 70_000) + "\", b: *a}\n",
		"nothing":                       "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			d := openDirectory(t, root)
			writeFile(t, root, "edge/gitops/shop/configmap_settings.yaml", content)
			o := configMap(t, "settings", "1")
			_, err := d.Create(t.Context(), o)
			assert.Equal(t, cluster.Exists, fault.Of(err))
			live, err := d.Get(t.Context(), o.ID)
			require.NoError(t, err)
			require.NotNil(t, live)
			assert.False(t, live.Ours(installation))
			assert.Equal(t, content, readFile(t, root, "edge/gitops/shop/configmap_settings.yaml"))
		})
	}
}

func TestDirectoryRemovesTheFolderThatItMade(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDirectory(t, root)
	first, err := d.Create(t.Context(), configMap(t, "a", "1"))
	require.NoError(t, err)
	second, err := d.Create(t.Context(), configMap(t, "b", "1"))
	require.NoError(t, err)
	require.NoError(t, d.Delete(t.Context(), configMap(t, "a", "1").ID, first.Version))
	assert.DirExists(t, filepath.Join(root, "edge/gitops/shop"))
	require.NoError(t, d.Delete(t.Context(), configMap(t, "b", "1").ID, second.Version))
	assert.NoDirExists(t, filepath.Join(root, "edge/gitops/shop"))
	assert.DirExists(t, filepath.Join(root, "edge/gitops"))

	third, err := d.Create(t.Context(), configMap(t, "a", "1"))
	require.NoError(t, err)
	writeFile(t, root, "edge/gitops/shop/README.md", "theirs")
	require.NoError(t, d.Delete(t.Context(), configMap(t, "a", "1").ID, third.Version))
	assert.FileExists(t, filepath.Join(root, "edge/gitops/shop/README.md"))
}

// TestDirectoryRemovesTheFolderThatItsLastFileHasLeft: by whomever that was
// removed; others' folders stay.
func TestDirectoryRemovesTheFolderThatItsLastFileHasLeft(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d, o := openDirectory(t, root), configMap(t, "a", "1")
	_, err := d.Create(t.Context(), o)
	require.NoError(t, err)
	const theirs = "edge/gitops/theirs/settings.yaml"
	writeFile(t, root, theirs, "kind: Settings")
	watches := d.Watch(t.Context(), cluster.Quiet())
	defer watches.Stop()
	for _, at := range []string{theirs, fileOf(o.ID)} {
		require.NoError(t, os.Remove(filepath.Join(root, at)))
	}
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(root, "edge/gitops/shop"))
		return os.IsNotExist(err)
	}, 6*directory.ScanInterval, scanEvery)
	require.DirExists(t, filepath.Join(root, "edge/gitops/theirs"))
}

func TestDirectoryNameStaysBelowTheRoot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", "/etc", "a/..", "./a", "a//b", `a\b`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, directory.CheckDirectory(name))
			_, err := directory.NewDirectory(t.TempDir(), name, cluster.Options{})
			require.Error(t, err)
		})
	}
	for _, name := range []string{"a", "a/b", "gitops-1", "a.b"} {
		require.NoError(t, directory.CheckDirectory(name))
	}
}

func TestDirectorySymlinkCannotLeadOut(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "edge")))
	_, err := directory.NewDirectory(root, "edge", cluster.Options{Installation: installation})
	require.Error(t, err, "the directory itself leads out")

	d, err := directory.NewDirectory(root, "inside", cluster.Options{Installation: installation})
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "inside/shop")))
	_, err = d.Create(t.Context(), configMap(t, "a", "1"))
	require.Error(t, err, "a namespace's folder leads out")
	assert.NotContains(t, err.Error(), outside)
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestDirectoryRefusesNamesThatAreNoFileNames(t *testing.T) {
	t.Parallel()
	d := openDirectory(t, t.TempDir())
	for _, id := range []bundle.ID{
		{Kind: "ConfigMap", Namespace: "..", Name: "a"},
		{Kind: "ConfigMap", Namespace: "shop/../..", Name: "a"},
		{Kind: "ConfigMap", Namespace: "shop", Name: "a/../../../b"},
		{Kind: "../x", Namespace: "shop", Name: "a"},
		{Kind: "ConfigMap", Namespace: "shop", Name: "a\x00"},
	} {
		_, err := d.Get(t.Context(), id)
		assert.Equal(t, fault.Refused, fault.Of(err), "%v", id)
		_, err = d.Create(t.Context(), bundle.Object{ID: id, JSON: []byte(`{"apiVersion":"v1"}`)})
		assert.Equal(t, fault.Refused, fault.Of(err), "%v", id)
	}
}

func TestDirectoryTakesNoInlineCredential(t *testing.T) {
	t.Parallel()
	d := openDirectory(t, t.TempDir())
	o := clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
		"name": "tsig", "namespace": "shop", "annotations": map[string]string{bundle.AnnotationValuesFrom: `{"secret":"v1"}`}}})
	_, err := d.Create(t.Context(), o)
	require.ErrorContains(t, err, "secretRef only")
	assert.Equal(t, fault.Refused, fault.Of(err))
}

func TestDirectoryScanFindsWhatOthersDid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		d, err := directory.NewDirectory(root, "edge/gitops", cluster.Options{Installation: installation})
		require.NoError(t, err)
		defer d.Close()
		o := configMap(t, "a", "1")
		made, err := d.Create(t.Context(), o)
		require.NoError(t, err)
		nudged := make(chan struct{}, 1)
		w := d.Watch(t.Context(), cluster.Notify{Addresses: func(string, string) {}, Objects: func(...bundle.ID) {
			select {
			case nudged <- struct{}{}:
			default:
			}
		}})
		defer w.Stop()
		assert.Equal(t, made.Version, w.Object(o.ID, "").Live.Version, "the picture is complete from the start")
		require.NoError(t, os.RemoveAll(filepath.Join(root, "edge/gitops/shop")))
		select {
		case <-nudged:
		case <-time.After(2 * directory.ScanInterval):
			t.Fatal("nobody was told within two scans")
		}
		sight := w.Object(o.ID, "")
		assert.True(t, sight.Known)
		assert.Nil(t, sight.Live)
	})
}

func TestDirectoryThatWasRemovedIsMadeAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := openDirectory(t, root)
	o := configMap(t, "a", "1")
	_, err := d.Create(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "edge")))
	_, err = d.Identity(t.Context())
	require.NoError(t, err)
	_, err = d.Create(t.Context(), o)
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(root, "edge/gitops/shop/configmap_a.yaml"))
}

func TestDirectoryWithoutItsRootIsUnreachable(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "mount")
	d := openDirectory(t, root)
	require.NoError(t, os.RemoveAll(root))
	_, err := d.Identity(t.Context())
	assert.Equal(t, fault.Unreachable, fault.Of(err), "a missing mount is unknown, not empty (I11)")
	assert.NoDirExists(t, root)
}

// TestWhatIsNoFileIsSomebodyElses: it is neither read, which could take for
// ever, nor replaced (I4).
func TestWhatIsNoFileIsSomebodyElses(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"a pipe":             func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a directory":        func(path string) error { return os.Mkdir(path, 0o755) },
		"a link to nowhere":  func(path string) error { return os.Symlink("nowhere", path) },
		"a link to its like": func(path string) error { return os.Symlink("other.yaml", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			d, o := openDirectory(t, root), configMap(t, "settings", "1")
			writeFile(t, root, filepath.Join(filepath.Dir(fileOf(o.ID)), "other.yaml"), "{}")
			require.NoError(t, plant(filepath.Join(root, fileOf(o.ID))))
			before, err := os.Lstat(filepath.Join(root, fileOf(o.ID)))
			require.NoError(t, err)

			_, err = d.Create(t.Context(), o)
			require.Equal(t, cluster.Exists, fault.Of(err))
			live, err := d.Get(t.Context(), o.ID)
			require.NoError(t, err)
			require.False(t, live.Ours(installation))
			after, err := os.Lstat(filepath.Join(root, fileOf(o.ID)))
			require.NoError(t, err)
			require.True(t, os.SameFile(before, after))
		})
	}
}
