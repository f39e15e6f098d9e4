// Package cluster_test proves on a real API server what the product's edge to
// a cluster promises, by the same suite that its fake passes.
package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/kubelet"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

const installation = "inst-1"

const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

// sealed opens one value.
type sealed struct{}

func (sealed) Secret(_ context.Context, id string) ([]byte, error) {
	if id != "v1" {
		return nil, errors.New("there is no such value")
	}
	return []byte("hush"), nil
}

func TestKubernetesKeepsTheContract(t *testing.T) {
	server := start(t)
	require.NoError(t, fixture.DefineEndpoints(t.Context(), server))
	var count atomic.Int32
	open := func(t *testing.T) clustertest.Fixture {
		namespace := fmt.Sprintf("suite-%d", count.Add(1))
		require.NoError(t, server.Namespace(t.Context(), namespace))
		target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Values: sealed{}, Version: "test"})
		require.NoError(t, err)
		t.Cleanup(target.Close)
		made := map[string]bool{}
		return clustertest.Fixture{
			Target: target, Installation: installation, Namespace: namespace, Sealed: "v1",
			Plant: func(t *testing.T, o bundle.Object) {
				require.NoError(t, server.Apply(t.Context(), string(o.JSON)))
			},
			Remove: func(t *testing.T, id bundle.ID) {
				kind := schema.GroupVersionKind{Group: id.Group, Version: "v1", Kind: id.Kind}
				require.NoError(t, server.Delete(t.Context(), kind, id.Namespace, id.Name))
			},
			Data: func(t *testing.T, id bundle.ID) map[string]string {
				found, err := server.Client.CoreV1().ConfigMaps(id.Namespace).Get(t.Context(), id.Name, metav1.GetOptions{})
				require.NoError(t, err)
				return found.Data
			},
			Run:  pods(server, namespace, count.Load()),
			Note: func(t *testing.T, id bundle.ID) { note(t, server, id) },
			Join: func(t *testing.T, node placement.Node) { join(t, server, node) },
			Beat: func(t *testing.T, node string) { beat(t, server, node) },
			Leave: func(t *testing.T, node string) {
				require.NoError(t, server.Client.CoreV1().Nodes().Delete(t.Context(), node, metav1.DeleteOptions{}))
			},
			Offer: func(t *testing.T, name, ip string) {
				offer := server.SetLoadBalancer
				if !made[name] {
					offer = server.LoadBalancer
				}
				made[name] = true
				require.NoError(t, offer(t.Context(), namespace, name, ip))
			},
		}
	}
	clustertest.Run(t, open)
	clustertest.RunServer(t, open)
}

// A label of ours that a stranger takes off hides the object from the watch,
// and its UID tells that it is still ours.
func TestObjectWithoutOurLabelKeepsItsUID(t *testing.T) {
	server := start(t)
	target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	require.NoError(t, server.Namespace(t.Context(), "suite"))
	o := clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": "suite"}, "data": map[string]string{"key": "1"}})
	made, err := target.Create(t.Context(), o)
	require.NoError(t, err)
	client := server.Client.CoreV1().ConfigMaps("suite")
	live, err := client.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	delete(live.Labels, bundle.LabelInstallation)
	_, err = client.Update(t.Context(), live, metav1.UpdateOptions{})
	require.NoError(t, err)
	seen, err := target.Get(t.Context(), o.ID)
	require.NoError(t, err)
	require.False(t, seen.Ours(installation))
	require.Equal(t, made.UID, seen.UID)
	back, err := target.Apply(t.Context(), o, seen.Version)
	require.NoError(t, err)
	require.True(t, back.Ours(installation))
}

// What an API server says about a namespace that is not there, or going, is no
// refusal: the object is made when the namespace is.
func TestNamespaceThatIsMissingOrGoingIsWaitedFor(t *testing.T) {
	server := start(t)
	target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	o := clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": "suite"}})
	_, err = target.Create(t.Context(), o)
	require.Equal(t, cluster.NoNamespace, fault.Of(err), "%v", err)
	require.NoError(t, server.Namespace(t.Context(), "suite"))
	require.NoError(t, server.Client.CoreV1().Namespaces().Delete(t.Context(), "suite", metav1.DeleteOptions{}))
	_, err = target.Create(t.Context(), o)
	require.Equal(t, cluster.NoNamespace, fault.Of(err), "%v", err)
}

func TestEndpointsAreServedOnceTheirDefinitionIsEstablished(t *testing.T) {
	server := start(t)
	target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	kind := cluster.Kind{Group: "externaldns.k8s.io", Kind: "DNSEndpoint"}
	served, err := target.Established(t.Context(), kind)
	require.NoError(t, err)
	require.False(t, served)
	require.NoError(t, server.Namespace(t.Context(), "suite"))
	o := clustertest.Object(t, map[string]any{"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
		"metadata": map[string]any{"name": "a", "namespace": "suite"}})
	_, err = target.Create(t.Context(), o)
	require.Equal(t, cluster.NotServed, fault.Of(err), "%v", err)
	live, err := target.Get(t.Context(), o.ID)
	require.NoError(t, err)
	require.Nil(t, live)
}

// onlyV1 serves TLSRoutes as Gateway API 1.5 does, in the version that it has made stable.
const onlyV1 = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: tlsroutes.gateway.networking.k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, for a test"}
spec:
  group: gateway.networking.k8s.io
  names: {kind: TLSRoute, listKind: TLSRouteList, plural: tlsroutes, singular: tlsroute}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

func TestObjectsOfAnotherVersionAreSeenAndDeleted(t *testing.T) {
	server := start(t)
	target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	require.NoError(t, server.Namespace(t.Context(), "suite"))
	require.NoError(t, server.Apply(t.Context(), onlyV1))
	o := clustertest.Object(t, map[string]any{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "TLSRoute",
		"metadata": map[string]any{"name": "a", "namespace": "suite"}})
	require.Eventually(t, func() bool {
		served, err := target.Established(t.Context(), cluster.KindOf(o.ID))
		return served && err == nil
	}, time.Minute, 50*time.Millisecond)
	var made cluster.Live
	require.Eventually(t, func() bool { // the path comes a moment later
		made, err = target.Create(t.Context(), o)
		return err == nil
	}, time.Minute, 50*time.Millisecond)
	live, err := target.Get(t.Context(), o.ID)
	require.NoError(t, err)
	require.NotNil(t, live)
	require.Equal(t, made.UID, live.UID)
	require.NoError(t, target.Delete(t.Context(), o.ID, live.Version))
	left, err := server.List(t.Context(), schema.GroupVersionKind{Group: o.Group, Version: "v1", Kind: o.Kind}, "suite", "")
	require.NoError(t, err)
	require.Empty(t, left)
	live, err = target.Get(t.Context(), o.ID)
	require.NoError(t, err)
	require.Nil(t, live)
}

func start(t *testing.T) *kube.Server {
	t.Helper()
	ports, dir := &process.Ports{}, t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), ports)
	require.NoError(t, err)
	require.NoError(t, store.Start(t.Context()))
	t.Cleanup(store.Kill)
	sockets, err := os.MkdirTemp("", "pods-") //nolint:usetesting // t.TempDir has the test's name, and the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(sockets)) })
	proxy, err := kubelet.StartProxy(t.Context(), filepath.Join(sockets, "pods.sock"))
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	server, err := kube.NewServer(t.Context(), kube.Options{Name: "hub", Dir: filepath.Join(dir, "hub"), Etcd: store.URL, PodProxy: proxy.Socket, Ports: ports})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(server.Stop)
	return server
}
