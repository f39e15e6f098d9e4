package scale

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

const (
	clients  = 8 // that fill the server at once
	patience = 30 * time.Minute
	unmoved  = "198.18.255.1" // the address of all Services but those that move
	services = "/api/v1/namespaces/shop/services/"
)

// world is a Signpost process over an etcd of its own. Its home, hub, is a directory. The
// Services of the edge paris are those of an API server in the process of the benchmark.
type world struct {
	testing.TB

	shape  shape
	names  int // that it publishes
	dir    string
	store  *etcd.Server
	edge   *apiserver.Server
	server *fixture.Signpost
}

// newWorld starts the parts, and writes the documents that have no names.
func newWorld(b testing.TB, s shape) *world {
	b.Helper()
	w := &world{TB: b, shape: s, dir: b.TempDir(), edge: apiserver.Start(b, "paris", 0)}
	var err error
	w.store, err = etcd.NewServer(b.Context(), b.TempDir(), &process.Ports{})
	require.NoError(b, err)
	// Compacted as docs/stores.md asks, but in less than the time of a measurement.
	w.store.Args = append(slices.DeleteFunc(w.store.Args, func(arg string) bool { return arg == "--unsafe-no-fsync" }),
		"--quota-backend-bytes=8589934592", "--auto-compaction-mode=periodic", "--auto-compaction-retention=1m")
	w.start(w.store.Process)
	program, err := fixture.Build(b.Context(), b.TempDir())
	require.NoError(b, err)
	w.server, err = fixture.NewSignpost(program, w.dir, "--etcd-endpoints", w.store.URL, "--pprof-listen=127.0.0.1:0",
		"--log-level=warn", "--rate-limit=0", "--max-names=0", "--max-objects=0", "--max-documents=0", "--max-bytes=0")
	require.NoError(b, err)
	w.server.Env = append(w.server.Env, "SIGNPOST_SECRET_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	w.start(w.server.Process)
	kubeconfig, err := w.edge.Kubeconfig()
	require.NoError(b, err)
	w.put("cluster-providers/edge", map[string]any{})
	w.put("cluster-providers/edge/clusters/hub", map[string]any{"directory": "hub"})
	w.put("cluster-providers/edge/clusters/paris", map[string]any{"kubeconfig": kubeconfig})
	w.put("projects/shop", map[string]any{"namespace": "shop-dns", "names": map[string]any{"editors": true}})
	w.put("projects/shop/logical-clouds/eu", map[string]any{"namespace": "shop", "clusters": []string{"edge/paris"}})
	w.put("projects/shop/dns-update-records/lab", map[string]any{
		"provider": "coredns", "external-dns-parameters": map[string]any{"domain-filter": []string{"lab.example"}},
		"environment": map[string]any{"ETCD_URLS": "http://192.0.2.1:2379"},
		"deployOn":    map[string]any{"clusterProvider": "edge", "cluster": "hub"}, "logicalClouds": []string{"eu"},
	})
	w.put("projects/shop/composite-apps/store/v1", map[string]any{"compositeAppVersion": "v1"})
	return w
}

func (w *world) start(p *process.Process) {
	w.Helper()
	p.EndWith(w)
	require.NoError(w, p.Start(w.Context()))
}

// put writes a document.
func (w *world) put(path string, spec any) {
	w.Helper()
	_, name := filepath.Split(path)
	if strings.HasSuffix(path, "/store/v1") {
		name = "store"
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name}, "spec": spec})
	require.NoError(w, err)
	w.ask(http.MethodPut, "/v2/"+path, string(body))
}

// ask sends a request, which has to succeed.
func (w *world) ask(method, path, body string) []byte {
	w.Helper()
	answer, err := w.server.Do(w.Context(), method, path, body)
	require.NoError(w, err)
	require.Less(w, answer.Status, http.StatusMultipleChoices, "%s: %s", answer.Call, answer.Body)
	return answer.Body
}

// fill makes the server publish so many names, by several clients at once, and waits until
// nothing is left to do.
func (w *world) fill(names int) {
	w.Helper()
	began := time.Now()
	var all errgroup.Group
	all.SetLimit(clients)
	for owner := w.names / w.shape.each; owner < names/w.shape.each; owner++ {
		all.Go(func() error { w.shape.publish(w, owner); return nil })
	}
	require.NoError(w, all.Wait())
	accepted := time.Since(began)
	w.names = names
	w.settle()
	w.Logf("%s: %d names: accepted after %v, settled after %v", w.shape.name, names, accepted.Round(time.Second), time.Since(began).Round(time.Second))
}

// settle waits until all names are published and nothing is due.
func (w *world) settle() {
	w.Helper()
	owners := w.names / w.shape.each
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	err := wait.Until(ctx, func() error {
		m := w.metrics()
		steps := m.sum("signpost_step_duration_seconds_count")
		due, waiting, entries := m.sum("signpost_controller_queue_depth"), m.sum("signpost_sync_queue_depth"), m.sum("signpost_name_index_entries")
		if due+waiting > 0 || int(entries) < w.names || int(steps) < owners {
			return fmt.Errorf("%.0f steps of %d owners, %.0f are due, %.0f objects wait, %.0f of %d names are in the index", steps, owners, due, waiting, entries, w.names)
		}
		files, err := filepath.Glob(filepath.Join(w.hub(), "shop-dns", "dnsendpoint*"))
		if err == nil && len(files) < w.names/w.shape.perEndpoint {
			err = fmt.Errorf("%d of %d DNSEndpoints", len(files), w.names/w.shape.perEndpoint)
		}
		return err
	})
	require.NoError(w, err)
}

// hub is the directory that is the home.
func (w *world) hub() string { return filepath.Join(w.dir, "data", "clusters", "hub") }

// files are those of the home, by what changes when one is written.
func (w *world) files() map[string]uint64 {
	w.Helper()
	found := map[string]uint64{}
	err := filepath.WalkDir(w.hub(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if stat, ok := info.Sys().(*syscall.Stat_t); err == nil && ok {
			found[path] = stat.Ino
		}
		return err
	})
	require.NoError(w, err)
	return found
}

// fileOf is the file of the DNSEndpoint that has a host name.
func (w *world) fileOf(host string) string {
	w.Helper()
	for path := range w.files() {
		text, err := os.ReadFile(path)
		require.NoError(w, err)
		if strings.Contains(string(text), `"`+host+`"`) || strings.Contains(string(text), host+"\n") {
			return path
		}
	}
	require.Fail(w, "no DNSEndpoint has the name", host)
	return ""
}
