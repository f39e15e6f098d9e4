package clusterdns

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

const namespace = intent.DefaultDNSNamespace

// World is a cluster in which Signpost has the rights that people give it.
type World struct {
	Ports  *process.Ports
	Server *kube.Server
	target *kubeapi.Kubernetes // as Signpost
}

// NewWorld starts a cluster that ends with the test.
func NewWorld(t testing.TB) *World {
	t.Helper()
	w, dir := &World{Ports: &process.Ports{}}, t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), w.Ports)
	require.NoError(t, err)
	require.NoError(t, store.Start(t.Context()))
	t.Cleanup(store.Kill)
	w.Server, err = kube.NewServer(t.Context(), kube.Options{Name: "hub", Dir: filepath.Join(dir, "hub"), Etcd: store.URL, Ports: w.Ports})
	require.NoError(t, err)
	require.NoError(t, w.Server.Start(t.Context()))
	t.Cleanup(w.Server.Stop)
	require.NoError(t, w.Server.GrantSignpost(t.Context()))
	raw, err := w.Server.Kubeconfig(kube.Signpost)
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(raw)
	require.NoError(t, err)
	w.target, err = kubeapi.NewKubernetes(config, cluster.Options{Installation: "k7wq2m9x", Version: "test"})
	require.NoError(t, err)
	t.Cleanup(w.target.Close)
	return w
}

// Asked is an intent for the one cluster there is.
func Asked(spec intent.DNSCRIntent) plan.ClusterDNS {
	spec.Mode, spec.Namespace = intent.Dedicated, namespace
	return plan.ClusterDNS{
		Intent: "resolvers", Cluster: "edge+hub", Domain: "cluster.local", Spec: spec,
		Image: "docker.io/coredns/coredns:1.15.0", ResolverImage: "docker.io/signpost-dns/signpost-dns:v0.1.0",
	}
}

// Render renders an intent into the objects of its cluster.
func Render(t testing.TB, d plan.ClusterDNS) bundle.Bundle {
	t.Helper()
	g := plan.Group{
		Installation: "k7wq2m9x", Path: "projects/shop/logical-clouds/eu", LogicalCloud: "eu", Project: plan.Project{Name: "shop"},
	}
	objects, err := clusterdns.Render(g, d, clusterdns.Placement(d))
	require.NoError(t, err)
	return objects
}

// Create makes the objects of an intent.
func (w *World) Create(t testing.TB, d plan.ClusterDNS) {
	t.Helper()
	for _, o := range inOrder(Render(t, d)) {
		_, err := w.target.Create(t.Context(), o)
		require.NoError(t, err)
	}
}

// Kubeconfig is one for the account that DNS pods run under, with the rights
// that its ClusterRole gives it and no others.
func (w *World) Kubeconfig(t testing.TB) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	answer, err := w.Server.Client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), clusterdns.ServiceName, request, metav1.CreateOptions{})
	require.NoError(t, err)
	dir := t.TempDir()
	token, path := filepath.Join(dir, "token"), filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(token, []byte(answer.Status.Token), 0o600))
	raw, err := w.Server.KubeconfigWithTokenFile(clusterdns.ServiceName, token)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

// inOrder is how a worker creates objects.
func inOrder(objects bundle.Bundle) []bundle.Object {
	var out []bundle.Object
	for order := range 20 {
		for _, o := range objects {
			if cluster.Order(cluster.Kind{Group: o.Group, Kind: o.Kind}) == order {
				out = append(out, o)
			}
		}
	}
	return out
}
