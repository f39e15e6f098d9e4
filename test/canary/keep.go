package canary

import (
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// stop ends the server, and sees its log and the spans of its last moments.
func (w *world) stop() {
	w.Helper()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	base, err := w.signpost.URL()
	require.NoError(w, err)
	last, err := http.NewRequestWithContext(w.Context(), http.MethodGet, base+prod, http.NoBody)
	require.NoError(w, err)
	last.Header.Set("Authorization", "Bearer "+w.admin)
	last.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	answer, err := http.DefaultClient.Do(last)
	require.NoError(w, err)
	require.NoError(w, answer.Body.Close())
	require.NoError(w, w.signpost.Stop(patience))
	require.NotEmpty(w, w.traces.Of(trace), "the last spans are exported")
	w.see("the spans", w.traces.Received())
	text, err := os.ReadFile(w.signpost.Log)
	require.NoError(w, err)
	require.Contains(w, string(text), `"DEBUG"`)
	w.see("the log", text)
}

// hub is a cluster that gets objects.
type hub interface {
	spec() string                      // of its document
	secrets() bool                     // whether it may have any
	objects(w *world) []map[string]any // that are there
}

// directory is a cluster of manifests, which are for everybody to read.
type directory struct{ root string }

func (d directory) spec() string { return `{"directory": "hub"}` }

func (d directory) secrets() bool { return false }

func (d directory) objects(w *world) []map[string]any {
	w.Helper()
	var all []map[string]any
	require.NoError(w, filepath.WalkDir(d.root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		object := map[string]any{}
		all = append(all, object)
		return yaml.Unmarshal(text, &object)
	}))
	return all
}

// seeObjects has secrets searched for in all objects of a cluster but the data of
// Secrets, and answers which secrets those hold.
func (w *world) seeObjects(objects []map[string]any) []string {
	w.Helper()
	var held []string
	searcher := newSearcher(w.all)
	for _, object := range objects {
		if object["kind"] == "Secret" {
			data, err := yaml.Marshal(object["data"])
			require.NoError(w, err)
			records := map[string]bool{}
			for _, found := range searcher.find(data) {
				name, _, _ := strings.Cut(found, " in base64")
				held, records[w.used[name]] = append(held, name), true
			}
			require.False(w, len(records) > 1 || records[""], "a Secret is of one record, and not of %v: %s", records, object["metadata"])
			delete(object, "data")
		}
		text, err := yaml.Marshal(object)
		require.NoError(w, err)
		w.see("an object", text)
	}
	slices.Sort(held)
	return slices.Compact(held)
}

// seeEmbedded sees all that the embedded etcd keeps, as bytes and by its keys.
func (w *world) seeEmbedded() {
	w.Helper()
	data := filepath.Join(w.dir, "server", "data")
	w.seeFiles(filepath.Join(data, "etcd"))
	server, err := etcd.StartEmbedded(w.Context(), etcd.EmbeddedOptions{Dir: filepath.Join(data, "etcd"), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(w, err)
	items, _, err := server.KV().Range(w.Context(), kv.Range{Prefix: "/"})
	require.NoError(w, err)
	require.NoError(w, server.Close())
	require.NotEmpty(w, items)
	for _, item := range items {
		w.see("the key "+item.Key, append([]byte(nil), item.Value...))
	}
}

// backUp sees what is in a backup.
func (w *world) backUp(stores ...string) {
	w.Helper()
	file := filepath.Join(w.dir, "backup")
	text, err := w.run(nil, append([]string{"backup", file}, stores...)...)
	require.NoError(w, err, text)
	w.seeFiles(file)
	require.NoError(w, os.Remove(file))
}
