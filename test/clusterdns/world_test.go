package clusterdns

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/cluster"
	"github.com/signpost-dns/signpost/pkg/corefile"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

const namespace = intent.DefaultDNSNamespace

// world is a cluster in which Signpost has the rights that people give it.
type world struct {
	ports  *process.Ports
	server *kube.Server
	target *cluster.Kubernetes // as Signpost
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w, dir := &world{ports: &process.Ports{}}, t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), w.ports)
	require.NoError(t, err)
	require.NoError(t, store.Start(t.Context()))
	t.Cleanup(store.Kill)
	w.server, err = kube.NewServer(t.Context(), kube.Options{Name: "hub", Dir: filepath.Join(dir, "hub"), Etcd: store.URL, Ports: w.ports})
	require.NoError(t, err)
	require.NoError(t, w.server.Start(t.Context()))
	t.Cleanup(w.server.Stop)
	require.NoError(t, w.server.GrantSignpost(t.Context()))
	raw, err := w.server.Kubeconfig(kube.Signpost)
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(raw)
	require.NoError(t, err)
	w.target, err = cluster.NewKubernetes(config, cluster.Options{Installation: "k7wq2m9x", Version: "test"})
	require.NoError(t, err)
	t.Cleanup(w.target.Close)
	return w
}

// asked is an intent for the one cluster there is.
func asked(spec intent.DNSCRIntent) plan.ClusterDNS {
	spec.Mode, spec.Namespace = intent.Dedicated, namespace
	return plan.ClusterDNS{
		Intent: "resolvers", Cluster: "edge+hub", Domain: "cluster.local", Spec: spec,
		Image: "docker.io/coredns/coredns:1.15.0", ResolverImage: "docker.io/signpost-dns/signpost-dns:v0.1.0",
	}
}

func render(t *testing.T, d plan.ClusterDNS) bundle.Bundle {
	t.Helper()
	g := plan.Group{
		Installation: "k7wq2m9x", Path: "projects/shop/logical-clouds/eu", LogicalCloud: "eu", Project: plan.Project{Name: "shop"},
	}
	objects, err := clusterdns.Render(g, d, clusterdns.Placement(d))
	require.NoError(t, err)
	return objects
}

// create makes the objects of an intent.
func (w *world) create(t *testing.T, d plan.ClusterDNS) {
	t.Helper()
	for _, o := range inOrder(render(t, d)) {
		_, err := w.target.Create(t.Context(), o)
		require.NoError(t, err)
	}
}

// kubeconfig is one for the account that DNS pods run under, with the rights
// that its ClusterRole gives it and no others.
func (w *world) kubeconfig(t *testing.T) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	answer, err := w.server.Client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), clusterdns.ServiceName, request, metav1.CreateOptions{})
	require.NoError(t, err)
	dir := t.TempDir()
	token, path := filepath.Join(dir, "token"), filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(token, []byte(answer.Status.Token), 0o600))
	raw, err := w.server.KubeconfigWithTokenFile(clusterdns.ServiceName, token)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

// coreDNS prepares a CoreDNS in the cluster.
func (w *world) coreDNS(t *testing.T, kubeconfig string) *CoreDNS {
	t.Helper()
	c, err := NewCoreDNS(t.Context(), t.TempDir(), kubeconfig, w.ports)
	require.NoError(t, err)
	t.Cleanup(c.Kill)
	return c
}

// configure gives CoreDNS what an intent asks for, and answers it.
func configure(t *testing.T, c *CoreDNS, spec intent.DNSCRIntent) corefile.Config {
	t.Helper()
	config, err := clusterdns.Configure(asked(spec))
	require.NoError(t, err)
	config.Port = c.Port
	text, err := corefile.Build(config)
	require.NoError(t, err)
	require.NoError(t, c.Write(text))
	return config
}

// run runs a CoreDNS as an intent asks for it.
func (w *world) run(t *testing.T, kubeconfig string, spec intent.DNSCRIntent) *CoreDNS {
	t.Helper()
	c := w.coreDNS(t, kubeconfig)
	configure(t, c, spec)
	start(t, c)
	return c
}

// start waits for CoreDNS to answer, and no longer than it takes it to give up
// waiting for its cluster many times over.
func start(t *testing.T, c *CoreDNS) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, c.Start(ctx))
}

// upstream starts a nameserver whose answers are its own.
func (w *world) upstream(t *testing.T, answer string) *Upstream {
	t.Helper()
	u, err := StartUpstream(t.Context(), w.ports, answer, nil)
	require.NoError(t, err)
	return u
}
