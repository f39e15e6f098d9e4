package syncer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/tracing"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/lookup"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/verify"
)

const (
	installation = "inst-1"
	hub, berlin  = "edge+hub", "edge+berlin"
	patience     = 30 * time.Second
)

// scene is a store, clusters, and workers over them.
type scene struct {
	t        *testing.T
	kv       *kvtest.Fake
	contexts *appcontext.Store
	ledger   *ledger.Ledger
	observed *observed.Store
	log      *logbook
	clock    pace.Clock // nil: the real one
	rsync    *handover.Store
	verifier verify.Verifier
	tracer   *tracing.Tracer
	metrics  *prometheus.Registry // of the worker that was started last
	resolver lookup.Resolver      // nil: the system's
	mayUse   func(ctx context.Context, cluster, namespace string, owners []string) (string, error)
	watched  Contexts // that workers watch; nil: contexts

	mu       sync.Mutex
	clusters map[string]*clustertest.Fake
	refused  map[string]error
	changed  chan string
	values   cluster.Values
	broken   error // what every request to the store is answered
}

func newScene(t *testing.T, names ...string) *scene {
	t.Helper()
	store := kvtest.NewFake()
	s := &scene{
		t: t, kv: store, contexts: appcontext.NewStore(store, time.Now), ledger: ledger.New(store), observed: observed.New(store),
		log: &logbook{}, clusters: map[string]*clustertest.Fake{}, refused: map[string]error{}, changed: make(chan string, 8),
	}
	for _, name := range names {
		s.clusters[name] = clustertest.NewFake("uid of " + name)
	}
	return s
}

// Connect implements Connections.
func (s *scene) Connect(_ context.Context, name string) (cluster.Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused[name]; err != nil {
		return nil, err
	}
	if s.clusters[name] == nil {
		return nil, errors.New("cluster " + name + " is not registered any more")
	}
	return s.clusters[name].Target(cluster.Options{Installation: installation, Values: s.values}), nil
}

// Changed implements Connections.
func (s *scene) Changed() <-chan string { return s.changed }

func (s *scene) refuse(name string, err error) {
	s.mu.Lock()
	s.refused[name] = err
	s.mu.Unlock()
	s.changed <- name
}

// start runs a worker until the function that it answers is called, or the
// test ends.
func (s *scene) start(member string) (*Worker, func()) {
	s.t.Helper()
	s.metrics = prometheus.NewRegistry()
	contexts := Contexts(s.contexts)
	if s.watched != nil {
		contexts = s.watched
	}
	w := New(Options{
		KV: s.kv, Contexts: contexts, Connections: s, Rsync: s.rsync, Verifier: s.verifier, Resolver: s.resolver,
		Installation: installation, Member: member, Clock: s.clock, MayUse: s.mayUse,
		Logger: slog.New(tracing.Handler(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))), Tracer: s.tracer, Metrics: s.metrics,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			require.NoError(s.t, err)
		case <-time.After(patience):
			s.t.Error("the worker does not end")
		}
	})
	s.t.Cleanup(stop)
	return w, stop
}

// commit makes objects current for an owner; none takes everything away.
func (s *scene) commit(owner string, objects ...bundle.Object) {
	s.t.Helper()
	s.commitWith(owner, appcontext.Context{}, objects...)
}

// commitWith makes a context current that asks for more than objects.
func (s *scene) commitWith(owner string, c appcontext.Context, objects ...bundle.Object) {
	s.t.Helper()
	was, err := s.contexts.Current(s.t.Context(), appcontext.Owner(owner))
	require.NoError(s.t, err)
	if len(objects)+len(c.Services)+len(c.Placements) > 0 {
		c.ID = appcontext.NewID()
		c.Objects, err = bundle.Collect(objects)
		require.NoError(s.t, err)
	}
	_, err = s.contexts.Commit(s.t.Context(), was, c)
	require.NoError(s.t, err)
}

func (s *scene) entries(name string) map[bundle.ID]ledger.Entry {
	s.t.Helper()
	entries, err := s.ledger.Cluster(s.t.Context(), name)
	require.NoError(s.t, err)
	out := map[bundle.ID]ledger.Entry{}
	for _, e := range entries {
		out[e.ID] = e
	}
	return out
}

func (s *scene) until(why string, condition func() bool) {
	s.t.Helper()
	require.Eventually(s.t, condition, patience, 2*time.Millisecond, why)
}

// settled waits until the ledger says that the objects are applied and the
// worker has nothing left to do.
func (s *scene) settled(w *Worker, objects ...bundle.Object) {
	s.t.Helper()
	s.until("everything is applied", func() bool {
		for _, o := range objects {
			e := s.entries(o.Cluster)[o.ID]
			if e.Status != ledger.Applied || e.Digest != o.Digest() {
				return false
			}
		}
		return w.Idle()
	})
}

// writes lists what changed something in a cluster since the last Forget.
func writes(f *clustertest.Fake) []string {
	var out []string
	for _, r := range f.Requests() {
		if r.Verb == "create" || r.Verb == "apply" || r.Verb == "delete" {
			out = append(out, r.Verb+" "+r.ID.Kind+" "+r.ID.Name)
		}
	}
	return out
}

// beyondProbes lists all requests but probes since the last Forget.
func beyondProbes(f *clustertest.Fake) []clustertest.Request {
	var out []clustertest.Request
	for _, r := range f.Requests() {
		if r.Verb != "identity" {
			out = append(out, r)
		}
	}
	return out
}

// object makes an object; spec is text.
func object(t *testing.T, name, apiVersion, kind, namespace, named, spec string) bundle.Object {
	t.Helper()
	metadata := map[string]any{"name": named}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o, err := bundle.New(name, "web", map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec})
	require.NoError(t, err)
	return o
}

func namespace(t *testing.T, name string) bundle.Object {
	return object(t, name, "v1", "Namespace", "", "shop", "")
}

func config(t *testing.T, name, named, spec string) bundle.Object {
	return object(t, name, "v1", "ConfigMap", "shop", named, spec)
}

func account(t *testing.T, name, named string) bundle.Object {
	return object(t, name, "v1", "ServiceAccount", "shop", named, "")
}

func deployment(t *testing.T, name, spec string) bundle.Object {
	return object(t, name, "apps/v1", "Deployment", "shop", "external-dns-lab", spec)
}

func definition(t *testing.T, name string) bundle.Object {
	return object(t, name, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "dnsendpoints.externaldns.k8s.io", "")
}

func endpoint(t *testing.T, name, spec string) bundle.Object {
	return object(t, name, "externaldns.k8s.io/v1alpha1", "DNSEndpoint", "shop", "web", spec)
}

// everything is one of each kind that the main story has in a hub.
func everything(t *testing.T, name string) []bundle.Object {
	return []bundle.Object{namespace(t, name), definition(t, name), account(t, name, "external-dns-lab"), deployment(t, name, "1"), endpoint(t, name, "1")}
}

// logbook is what was logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// breakLedger has every write of the ledger fail until told otherwise.
func (s *scene) breakLedger(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = nil
	if yes {
		s.broken = fmt.Errorf("the store is gone")
	}
}
