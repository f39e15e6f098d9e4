package app

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/replicas"
	"github.com/signpost-dns/signpost/pkg/worker/connections"
)

const tick = 10 * time.Millisecond

func role(name string) func(*Config) { return func(c *Config) { c.Role = name } }

// post posts a document and requires it to be created.
func (s *server) post(collection, body string) {
	s.t.Helper()
	answer, err := http.Post("http://"+s.http+collection, "application/json", strings.NewReader(body))
	require.NoError(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusCreated, answer.StatusCode, "%s", text)
}

// TestAWorkerServesProbesAlone: and says who would do more. It has no gRPC.
func TestAWorkerServesProbesAlone(t *testing.T) {
	t.Parallel()
	store, external := externalEtcd(t)
	s := serve(t, t.TempDir(), external, role(replicas.Worker))
	for _, path := range []string{"/healthz", "/readyz", "/version", "/metrics"} {
		code, body := s.get(path)
		require.Equal(t, http.StatusOK, code, path)
		require.NotEmpty(t, body, path)
	}
	for _, path := range []string{"/v2/projects", "/v2/openapi.yaml", "/v2/projects/shop/composite-apps"} {
		code, body := s.get(path)
		require.Equal(t, http.StatusNotFound, code, path)
		require.Contains(t, body, "--role worker", path)
	}
	require.Empty(t, s.grpc)
	require.Eventually(t, func() bool { return members(t, store) == 1 }, patience, tick, "it serves clusters")
	s.stop()
	require.Zero(t, members(t, store))
}

// TestAnAPIReplicaServesNoClusters: it is ready without any worker, since documents
// can be written.
func TestAnAPIReplicaServesNoClusters(t *testing.T) {
	t.Parallel()
	store, external := externalEtcd(t)
	s := serve(t, t.TempDir(), external, role(replicas.API))
	code, _ := s.get("/readyz")
	require.Equal(t, http.StatusOK, code)
	s.post("/v2/projects", `{"metadata":{"name":"shop"}}`)
	require.NotEmpty(t, s.grpc)
	serve(t, t.TempDir(), external, role(replicas.Worker))
	require.Eventually(t, func() bool { return members(t, store) == 1 }, patience, tick)
	require.Eventually(t, func() bool {
		_, metrics := s.get("/metrics")
		return strings.Contains(metrics, `signpost_replicas{role="worker",version=""} 1`)
	}, patience, tick, "and it knows who works")
	live, err := replicas.Live(t.Context(), store)
	require.NoError(t, err)
	require.Len(t, live, 2)
	for _, r := range live {
		_, isMember := keysBelow(t, store, "/signpost/members/")[r.ID]
		require.Equal(t, r.Role == replicas.Worker, isMember, "its worker has its name")
	}
}

func keysBelow(t *testing.T, store kv.KV, prefix string) map[string]bool {
	t.Helper()
	items, _, err := store.Range(t.Context(), kv.Range{Prefix: prefix})
	require.NoError(t, err)
	found := map[string]bool{}
	for _, item := range items {
		found[item.Key[len(prefix):]] = true
	}
	return found
}

// TestDirectoryClustersAreForOneWorker: several would each have manifests of
// their own, unless they say that all have the same root.
func TestDirectoryClustersAreForOneWorker(t *testing.T) {
	t.Parallel()
	store, external := externalEtcd(t)
	documents := etcd.New(store)
	const hub intent.Path = "cluster-providers/edge/clusters/hub"
	_, err := documents.Put(t.Context(), intent.Write{Path: hub, Body: []byte(`{"metadata":{"name":"hub"},"spec":{"directory":"gitops"}}`)})
	require.NoError(t, err)
	root := filepath.Join(t.TempDir(), "clusters")
	config := fits()
	external(&config)
	config.DirectoryRoot = root
	refusal := func(c Config, self replicas.Replica) string {
		pool := connections.New(c.reaching("inst-1", replicas.NewRegistry(store, self, nil), nil), connections.Identities{Ledger: ledger.New(store), Documents: documents}, nil)
		target, err := pool.Connect(t.Context(), "edge+hub")
		report, preflightErr := pool.Preflight(t.Context(), hub)
		require.NoError(t, preflightErr)
		if err != nil {
			require.False(t, report.Reachable)
			require.Contains(t, err.Error(), report.Checks[0].Message, "preflight says the same")
			return err.Error()
		}
		target.Close()
		require.True(t, report.Reachable)
		return ""
	}
	worker, api := replicas.Replica{ID: "a", Role: replicas.Worker}, replicas.Replica{ID: "b", Role: replicas.API}
	register(t, store, worker)
	register(t, store, api)
	require.Empty(t, refusal(config, worker), "one process serves clusters")
	require.Contains(t, refusal(config, api), "--shared-directory-root", "its directories are not those of the worker")
	register(t, store, replicas.Replica{ID: "c", Role: replicas.All})
	said := refusal(config, worker)
	require.Contains(t, said, "edge+hub")
	require.Contains(t, said, "--directory-root")
	require.Contains(t, said, "--shared-directory-root")
	config.SharedDirectories = true
	require.Empty(t, refusal(config, worker))
	require.Empty(t, refusal(config, api))
	embedded := fits()
	embedded.DirectoryRoot = root
	require.Empty(t, refusal(embedded, worker), "one process has the embedded etcd")
}

func register(t *testing.T, store kv.KV, r replicas.Replica) {
	t.Helper()
	value, err := json.Marshal(r)
	require.NoError(t, err)
	_, _, err = store.Txn(t.Context(), nil, kv.Put("/signpost/replicas/"+r.ID, value))
	require.NoError(t, err)
}
