package emco_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/emco/rsync"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	store "github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/pkg/worker/syncer"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// The owners of what is handed over.
const (
	onParis  = "edge+paris"
	names    = appcontext.Owner("projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")
	external = appcontext.Owner("provider/projects/shop/dns-update-records/lab/public/" + onParis)
)

// handing is a worker of Signpost's that has rsync put objects into clusters.
// It may look at them, by a kubeconfig of its own.
type handing struct {
	scene

	kv       kv.KV
	contexts *appcontext.Store
	handed   *handover.Store
	changed  chan string
}

// Connect implements syncer.Connections.
func (h *handing) Connect(context.Context, string) (cluster.Target, error) {
	kubeconfig, err := h.kubes["paris"].Kubeconfig(kube.Signpost)
	if err != nil {
		return nil, err
	}
	config, err := kubeapi.ParseKubeconfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubeapi.NewKubernetes(config, cluster.Options{Installation: "i1"})
}

// Changed implements syncer.Connections.
func (h *handing) Changed() <-chan string { return h.changed }

func newHanding(t *testing.T, s scene) *handing {
	client, err := store.Dial(store.DialOptions{Endpoints: []string{s.etcd.URL}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	at, err := rsync.New(rsync.Options{Endpoint: s.Rsync.Address})
	require.NoError(t, err)
	h := &handing{scene: s, kv: client, contexts: appcontext.NewStore(client, time.Now), changed: make(chan string)}
	h.handed = handover.New(handover.Options{KV: client, Contexts: h.contexts, Rsync: at})
	return h
}

// work has a worker run until the function that it answers is called.
func (h *handing) work(t *testing.T) (stop func()) {
	worker := syncer.New(syncer.Options{KV: h.kv, Contexts: h.contexts, Connections: h, Installation: "i1", Rsync: h.handed})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	ended := false
	stop = func() {
		if !ended {
			ended = true
			cancel()
			require.NoError(t, <-done)
		}
	}
	t.Cleanup(stop)
	return stop
}

// commit makes objects an owner's, none takes all away.
func (h *handing) commit(t *testing.T, owner appcontext.Owner, level, namespace string, objects ...bundle.Object) {
	was, err := h.contexts.Current(t.Context(), owner)
	require.NoError(t, err)
	next := appcontext.Context{}
	if len(objects) > 0 {
		next = appcontext.Context{ID: appcontext.NewID(), Objects: objects, Meta: appcontext.Meta{Project: "shop", Level: level, Namespace: namespace, ChildContextIDs: []string{}}}
	}
	_, err = h.contexts.Commit(t.Context(), was, next)
	require.NoError(t, err)
}

// applied waits until the ledger says that all objects are, and that there are
// no others.
func (h *handing) applied(t *testing.T, objects ...bundle.Object) {
	t.Helper()
	wait.For(t, patience, "the ledger", func() error {
		entries, err := ledger.New(h.kv).Cluster(t.Context(), onParis)
		if err != nil || len(entries) != len(objects) {
			return errors.Join(err, fmt.Errorf("%d entries: %+v", len(entries), entries))
		}
		byID := map[bundle.ID]ledger.Entry{}
		for _, e := range entries {
			byID[e.ID] = e
		}
		for _, o := range objects {
			if e := byID[o.ID]; e.Status != ledger.Applied || e.Digest != o.Digest() {
				return fmt.Errorf("%s: %s %s", o.ID, e.Status, e.Message)
			}
		}
		return nil
	})
}

func endpointIn(t *testing.T, name string, targets ...string) bundle.Object {
	o, err := bundle.New(onParis, "web", map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint", "metadata": map[string]any{"name": name, "namespace": "shop"},
		"spec": map[string]any{"endpoints": []any{map[string]any{"dnsName": name + ".lab.example", "recordType": "A", "targets": targets}}},
	})
	require.NoError(t, err)
	return o
}

func (h *handing) targets(t *testing.T, name string) string {
	kind := schema.GroupVersionKind{Group: "externaldns.k8s.io", Version: "v1alpha1", Kind: "DNSEndpoint"}
	found, err := h.kubes["paris"].Get(t.Context(), kind, "shop", name)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(found.Object["spec"])
}

// checkHandover: external-dns and DNSEndpoints arrive, change in place and go,
// and Signpost itself, which may, writes nothing into the cluster.
func checkHandover(t *testing.T, s scene) {
	h := newHanding(t, s)
	require.NoError(t, s.kubes["paris"].GrantSignpost(t.Context()))
	stop := h.work(t)
	record := plan.Record{
		Installation: "i1", Path: "projects/shop/dns-update-records/lab", UID: "u1", Project: plan.Project{Name: "shop", Namespace: "shop"}, Name: "lab",
		Version: "v0.22.0", Image: "registry.example/external-dns:v0.22.0", OwnerID: "o1",
		Spec: intent.Record{Provider: "coredns", Parameters: map[string]any{"domain-filter": []any{"lab.example"}, "policy": "sync"}},
	}
	server, findings, err := provider.Render(plan.Provider{Record: record, Scope: intent.Public, Cluster: onParis})
	require.NoError(t, err)
	require.Empty(t, findings)
	h.commit(t, external, "0", "shop", server...)
	www := endpointIn(t, "www", "203.0.113.10")
	h.commit(t, names, "1", "shop", www)
	h.applied(t, append(server, www)...)
	require.Contains(t, h.targets(t, "www"), "203.0.113.10")
	first := h.child(t)

	changed, added := endpointIn(t, "www", "203.0.113.20"), endpointIn(t, "two", "203.0.113.30")
	h.commit(t, names, "1", "shop", changed, added)
	h.applied(t, append(server, changed, added)...)
	require.Contains(t, h.targets(t, "www"), "203.0.113.20")
	require.NotEqual(t, first, h.child(t))
	require.Equal(t, "Instantiated", s.state(t, h.child(t)))

	stop()
	s.kubes["paris"].Stop()
	h.commit(t, names, "1", "shop", added)
	h.work(t)
	require.NoError(t, s.kubes["paris"].Start(t.Context()))
	h.applied(t, append(server, added)...)
	require.Equal(t, "none", h.targets(t, "www"))

	require.NoError(t, s.Rsync.Uninstall(t.Context(), h.child(t))) // as EMCO does when it terminates
	h.commit(t, names, "", "")
	h.applied(t, server...)
	require.Equal(t, "none", h.targets(t, "two"))
	h.commit(t, external, "", "")
	h.applied(t)
	s.settle(t)
	deployments, err := s.kubes["paris"].List(t.Context(), schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "shop", "")
	require.NoError(t, err)
	require.Empty(t, deployments)
	writes, err := s.kubes["paris"].Writes(kube.Signpost)
	require.NoError(t, err)
	require.Empty(t, writes, "all of it came from rsync")
	wait.For(t, patience, "the store to hold nothing of it", func() error {
		items, _, err := h.kv.Range(t.Context(), kv.Range{Prefix: "/signpost/rsync/"})
		return errors.Join(err, map[bool]error{false: errors.New("records are left")}[len(items) == 0])
	})
}

// child is the context by which EMCO knows that of the group.
func (h *handing) child(t *testing.T) string {
	t.Helper()
	children, err := h.handed.Children(t.Context(), names, []string{onParis})
	require.NoError(t, err)
	require.Len(t, children.Now, 1)
	return children.Now[0]
}
