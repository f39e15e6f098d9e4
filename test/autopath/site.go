package autopath

import (
	"context"
	_ "embed" // what there is, in the cluster and outside
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	parts "github.com/signpost-dns/signpost/test/clusterdns"
)

//go:embed cluster.yaml
var cluster string

//go:embed outside.zone
var outside string

// Site is a cluster with Services in it, and the rest of the world.
type Site struct {
	*parts.World
	Outside *parts.Upstream

	kubeconfig string
	program    string // signpost-dns
}

// HostSearch are the search domains of every node.
func HostSearch() []string { return []string{"corp.example", "lab.example"} }

// NewSite starts a site that ends with the test.
func NewSite(t testing.TB) *Site {
	t.Helper()
	s := &Site{World: parts.NewWorld(t)}
	s.Create(t, parts.Asked(intent.DNSCRIntent{})) // the account and the rights of DNS pods
	s.kubeconfig = s.Kubeconfig(t)
	for _, namespace := range []string{"shop", "ns2", "example"} {
		require.NoError(t, s.Server.Namespace(t.Context(), namespace))
	}
	require.NoError(t, s.Server.Apply(t.Context(), cluster))
	s.many(t)
	var err error
	s.program, err = Program(t.Context(), t.TempDir())
	require.NoError(t, err)
	s.Outside, err = parts.StartUpstream(t.Context(), s.Ports, "", nil)
	require.NoError(t, err)
	names, err := ReadOutside(outside)
	require.NoError(t, err)
	for n := range Many {
		rr, err := dns.NewRR(fmt.Sprintf("many.example.org. 60 IN A 203.0.113.%d", n))
		require.NoError(t, err)
		names["many.example.org."] = append(names["many.example.org."], rr)
	}
	s.Outside.Tell(names.Tell)
	return s
}

// Many is how many addresses the Service "many" of shop has in each family, and
// many.example.org: more than go into an answer over UDP.
const Many = 150

// many makes a Service with many pods.
func (s *Site) many(t testing.TB) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "many", Namespace: "shop"},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
	_, err := s.Server.Client.CoreV1().Services("shop").Create(t.Context(), service, metav1.CreateOptions{})
	require.NoError(t, err)
	for family, first := range map[discoveryv1.AddressType]string{
		discoveryv1.AddressTypeIPv4: "10.244.9.0", discoveryv1.AddressTypeIPv6: "fd00:10:244:9::",
	} {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Name: "many-" + strings.ToLower(string(family)), Labels: map[string]string{discoveryv1.LabelServiceName: "many"}},
			AddressType: family,
			Ports:       []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(80))}},
		}
		address := netip.MustParseAddr(first)
		for range Many {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{address.String()}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			})
			address = address.Next()
		}
		_, err := s.Server.Client.DiscoveryV1().EndpointSlices("shop").Create(t.Context(), slice, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// Asked is a DNS CR intent whose last resort is the rest of the world.
func (s *Site) Asked(autopath *intent.Autopath, nodeLocal bool) intent.DNSCRIntent {
	spec := intent.DNSCRIntent{
		Autopath: autopath,
		UpstreamResolvers: &intent.UpstreamResolvers{Upstreams: []intent.Upstream{
			{Type: "Network", Address: s.Outside.At.Addr().String(), Port: int(s.Outside.At.Port())},
		}},
	}
	if nodeLocal {
		spec.NodeLocalDNS = &intent.NodeLocalDNS{Enabled: true}
	}
	return spec
}

// DNSPod prepares a DNS pod as an intent asks for it.
func (s *Site) DNSPod(t testing.TB, spec intent.DNSCRIntent) *parts.CoreDNS {
	t.Helper()
	return s.coreDNS(t, spec, clusterdns.ServiceName, netip.AddrPort{})
}

// NodeCache prepares the cache of a node, in front of a DNS pod, to listen
// where it is told.
func (s *Site) NodeCache(t testing.TB, spec intent.DNSCRIntent, pod *parts.CoreDNS, at netip.AddrPort) *parts.CoreDNS {
	t.Helper()
	c := s.coreDNS(t, spec, clusterdns.CacheName, at)
	c.Env = []string{"DNS_DEFAULT_SERVICE_HOST=" + pod.HostPort()}
	require.NoError(t, c.WriteFile("/etc/resolv.conf", "nameserver 192.0.2.53\nsearch "+strings.Join(HostSearch(), " ")+"\n"))
	c.Process.Ready = func(ctx context.Context) error {
		if err := c.Healthy(ctx); err != nil {
			return err
		}
		_, err := c.Ask(ctx, "kubernetes.default.svc.cluster.local", dns.TypeA)
		return err
	}
	return c
}

// coreDNS is a CoreDNS with the files of a ConfigMap that an intent is rendered
// into, and the program of the image that goes with it. It listens where it is
// told, or at a port of its own on loopback.
func (s *Site) coreDNS(t testing.TB, spec intent.DNSCRIntent, name string, at netip.AddrPort) *parts.CoreDNS {
	t.Helper()
	c, err := parts.NewCoreDNS(t.Context(), t.TempDir(), s.kubeconfig, s.Ports)
	require.NoError(t, err)
	t.Cleanup(func() { requireSound(t, c) })
	if at.IsValid() {
		c.Host, c.Port = at.Addr().String(), at.Port()
	}
	asked := parts.Asked(spec)
	if name == clusterdns.CacheName || clusterdns.Expands(asked) {
		c.Path = s.program
	}
	for key, text := range dataOf(t, parts.Render(t, asked), name) {
		if key == "Corefile" {
			require.NoError(t, c.Write(text))
		} else {
			require.NoError(t, c.WriteFile("/etc/coredns/"+key, text))
		}
	}
	return c
}

// dataOf is what a ConfigMap holds.
func dataOf(t testing.TB, objects bundle.Bundle, name string) map[string]string {
	t.Helper()
	for _, o := range objects {
		if o.Kind == "ConfigMap" && o.Name == name {
			var found corev1.ConfigMap
			require.NoError(t, json.Unmarshal(o.JSON, &found))
			return found.Data
		}
	}
	require.Fail(t, "there is no ConfigMap "+name)
	return nil
}

// requireSound ends a CoreDNS, and expects that it has neither panicked nor
// raced, as far as it noticed.
func requireSound(t testing.TB, c *parts.CoreDNS) {
	t.Helper()
	c.Kill()
	if t.Failed() {
		t.Log(c.Tail(20))
	}
	log, err := os.ReadFile(c.Log)
	if os.IsNotExist(err) {
		return // it never ran
	}
	require.NoError(t, err)
	for _, defect := range []string{"DATA RACE", "panic"} {
		require.NotContains(t, string(log), defect)
	}
}
