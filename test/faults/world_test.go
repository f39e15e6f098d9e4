package faults

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// world is a Signpost before a cluster, with taps between. Nobody plays
// kubelet: what counts here is what is written.
type world struct {
	service

	dir     string
	ports   *process.Ports
	tap     *Tap
	etcd    *etcd.Server // of Signpost, behind the tap; nil for the embedded one
	cluster *kube.Server
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{service: service{T: t}, dir: t.TempDir(), ports: &process.Ports{}, tap: &Tap{}}
	w.startCluster()
	return w
}

// overEtcd starts a Signpost over an external etcd.
func overEtcd(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.etcd = w.startEtcd("etcd")
	tapped, err := w.tap.Etcd(t.Context(), w.etcd.URL)
	require.NoError(t, err)
	t.Cleanup(tapped.Close)
	w.signpost = newSignpost(t, w.dir, "--etcd-endpoints="+tapped.URL)
	require.NoError(t, w.signpost.Start(t.Context()))
	return w
}

// overEmbedded starts a Signpost over the etcd inside it.
func overEmbedded(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.signpost = newSignpost(t, w.dir)
	require.NoError(t, w.signpost.Start(t.Context()))
	return w
}

// victim is a process that is killed, and how it comes back.
type victim struct {
	kill, revive func()
}

// server is Signpost. Its leases have ended when it is back, as they do after
// 15 seconds.
func (w *world) server() victim {
	return victim{w.signpost.Kill, func() {
		if w.etcd != nil {
			require.NoError(w, w.etcd.EndLeases(w.Context()))
		}
		require.NoError(w, w.signpost.Start(w.Context()))
	}}
}

// store is the etcd of Signpost, which lives on.
func (w *world) store() victim {
	return victim{w.etcd.Kill, func() { require.NoError(w, w.etcd.Start(w.Context())) }}
}

// hub is the cluster's API server.
func (w *world) hub() victim {
	return victim{w.cluster.Stop, func() {
		require.NoError(w, w.cluster.Start(w.Context()))
		w.touchDefinition()
	}}
}

// touchDefinition changes nothing that matters of the definition of
// DNSEndpoints, if it is there. An API server that dies between accepting a
// definition's names and establishing it does the latter after its return only
// when the definition changes, or its caches are read anew after five minutes
// (k8s.io/apiextensions-apiserver v0.36.3: updateCustomResourceDefinition).
func (w *world) touchDefinition() {
	w.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
	err := w.cluster.Merge(w.Context(), fixture.DefinitionKind(), "", fixture.DefinitionName, patch)
	if !apierrors.IsNotFound(err) {
		require.NoError(w, err)
	}
}

func (w *world) startEtcd(name string) *etcd.Server {
	w.Helper()
	server, err := etcd.NewServer(w.Context(), filepath.Join(w.dir, name), w.ports)
	require.NoError(w, err)
	require.NoError(w, server.Start(w.Context()))
	w.Cleanup(server.Kill)
	return server
}

// startCluster starts a cluster in which somebody has deployed the app and
// defined DNSEndpoints.
func (w *world) startCluster() {
	w.Helper()
	store := w.startEtcd("hub-etcd")
	var err error
	w.cluster, err = kube.NewServer(w.Context(), kube.Options{
		Name: "hub", Dir: filepath.Join(w.dir, "hub"), Etcd: store.URL, Ports: w.ports,
	})
	require.NoError(w, err)
	require.NoError(w, w.cluster.Start(w.Context()))
	w.Cleanup(w.cluster.Stop)
	require.NoError(w, w.cluster.GrantSignpost(w.Context()))
	require.NoError(w, w.cluster.LoadBalancer(w.Context(), "shop", "web", address))
	require.NoError(w, fixture.DefineEndpoints(w.Context(), w.cluster))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.cluster.FinishNamespaces(ctx) }()
	w.Cleanup(func() { stop(); <-ended })
}

// kubeconfig is the cluster's document: a kubeconfig for Signpost, through the
// tap.
func (w *world) kubeconfig() string {
	w.Helper()
	tapped, err := w.tap.Cluster(w.cluster)
	require.NoError(w, err)
	w.Cleanup(tapped.Close)
	plain, err := w.cluster.Kubeconfig(kube.Signpost)
	require.NoError(w, err)
	config, err := tapped.Kubeconfig(plain)
	require.NoError(w, err)
	return fmt.Sprintf(`{"kubeconfig": %q}`, base64.StdEncoding.EncodeToString(config))
}

// kinds are those of the objects that Signpost makes here.
func kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Version: "v1", Kind: "Namespace"},
		fixture.EndpointKind(),
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Version: "v1", Kind: "Secret"},
		{Version: "v1", Kind: "ConfigMap"},
		{Version: "v1", Kind: "ServiceAccount"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	}
}

// ours lists Signpost's objects in the cluster, beside the definition of
// DNSEndpoints, which stays, as "Kind namespace/name".
func (w *world) ours() ([]string, error) {
	var found []string
	for _, kind := range kinds() {
		list, err := w.list(kind, "app.kubernetes.io/managed-by=signpost")
		if err != nil {
			return nil, err
		}
		for _, object := range list {
			found = append(found, fmt.Sprintf("%s %s/%s", kind.Kind, object.GetNamespace(), object.GetName()))
		}
	}
	return found, nil
}

// hosts lists the names with their targets in all DNSEndpoints.
func (w *world) hosts() ([]string, error) {
	list, err := w.list(fixture.EndpointKind(), "")
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, object := range list {
		endpoints, _, err := unstructured.NestedSlice(object.Object, "spec", "endpoints")
		if err != nil {
			return nil, err
		}
		for _, e := range endpoints {
			endpoint, _ := e.(map[string]any)
			hosts = append(hosts, fmt.Sprint(endpoint["dnsName"], endpoint["targets"]))
		}
	}
	return hosts, nil
}

// list lists objects; none where their kind is not defined.
func (w *world) list(kind schema.GroupVersionKind, labels string) ([]unstructured.Unstructured, error) {
	list, err := w.cluster.List(w.Context(), kind, "", labels)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return list, err
}

// ledger lists the keys of what Signpost notes that it put into clusters; none
// where the etcd is its own.
func (w *world) ledger() ([]string, error) {
	if w.etcd == nil {
		return nil, nil
	}
	entries, err := w.etcd.Prefix(w.Context(), "/signpost/ledger/")
	return slices.Sorted(maps.Keys(entries)), err
}
