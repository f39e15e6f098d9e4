package clusterdns

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// TestARealCoreDNSDoesWhatIsAskedFor runs generated Corefiles in CoreDNS, whose
// cluster is a real kube-apiserver, under the account and the rights that are
// rendered with them.
func TestARealCoreDNSDoesWhatIsAskedFor(t *testing.T) {
	w := NewWorld(t)
	w.Create(t, Asked(intent.DNSCRIntent{}))
	w.populate(t)
	kubeconfig := w.Kubeconfig(t)
	for name, test := range map[string]func(t *testing.T, w *World, kubeconfig string){
		"a.foo.com beats foo.com, and unmatched names take the last resort": longestZone,
		"by default, unmatched names go to the node's own nameservers":      nodesOwn,
		"Sequential asks the first alone":                                   sequential,
		"RoundRobin asks each as often":                                     roundRobin,
		"Random asks all":                                                   random,
		"a dead upstream is skipped until it lives":                         dead,
		"dead upstreams are asked all the same when there is no other":      allDead,
		"a truncated answer is fetched over TCP":                            truncated,
		"TCP can be forced":                                                 forced,
		"TLS with the right and the wrong name":                             secure,
		"a changed Corefile is reloaded":                                    reloaded,
		"search paths are walked by stock CoreDNS":                          stockAutopath,
		"a name that no search path has is one answer of stock CoreDNS":     stockAutopathMissing,
	} {
		t.Run(name, func(t *testing.T) { test(t, w, kubeconfig) })
	}
}

// populate makes what the cluster's own names stand for: a Service with an
// address of its own, and one whose pods have them.
func (w *World) populate(t *testing.T) {
	t.Helper()
	require.NoError(t, w.Server.Namespace(t.Context(), "shop"))
	services := w.Server.Client.CoreV1().Services("shop")
	ports := []corev1.ServicePort{{Name: "http", Port: 80}}
	for name, address := range map[string]string{"web": "10.96.0.20", "db": corev1.ClusterIPNone} {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{ClusterIP: address, Ports: ports}}
		_, err := services.Create(t.Context(), service, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "db", Labels: map[string]string{discoveryv1.LabelServiceName: "db"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.244.0.7"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
		Ports:       []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(80))}},
	}
	_, err := w.Server.Client.DiscoveryV1().EndpointSlices("shop").Create(t.Context(), slice, metav1.CreateOptions{})
	require.NoError(t, err)
}

// forward is a server's.
func forward(domain, policy string, upstreams ...*Upstream) intent.ForwardPlugin {
	plugin := intent.ForwardPlugin{Domain: domain, Policy: policy}
	for _, u := range upstreams {
		plugin.Nameservers = append(plugin.Nameservers, u.At.String())
	}
	return plugin
}

// seed is an intent in the seed's form, with a last resort that can be seen.
func seed(lastResort *Upstream, plugins ...intent.ForwardPlugin) intent.DNSCRIntent {
	return intent.DNSCRIntent{
		PluginConfig: &intent.DNSPluginConfig{ForwardPlugins: plugins},
		UpstreamResolvers: &intent.UpstreamResolvers{Upstreams: []intent.Upstream{
			{Type: "Network", Address: lastResort.At.Addr().String(), Port: int(lastResort.At.Port())},
		}},
	}
}

func requireAddress(t *testing.T, c *CoreDNS, name, want string) {
	t.Helper()
	got, err := c.Address(t.Context(), name)
	require.NoError(t, err, c.Tail(20))
	require.Equal(t, want, got, name)
}

func longestZone(t *testing.T, w *World, kubeconfig string) {
	foo, inner, last := w.upstream(t, "192.0.2.1"), w.upstream(t, "192.0.2.2"), w.upstream(t, "192.0.2.3")
	c := w.run(t, kubeconfig, seed(last, forward("foo.com", "", foo), forward("a.foo.com", "", inner)))
	for name, want := range map[string]string{
		"www.foo.com": foo.Answer, "foo.com": foo.Answer, "b.b.foo.com": foo.Answer,
		"www.a.foo.com": inner.Answer, "a.foo.com": inner.Answer, "WWW.A.Foo.com": inner.Answer,
		"notfoo.com": last.Answer, "example.org": last.Answer,
		"web.shop.svc.cluster.local": "10.96.0.20", "db.shop.svc.cluster.local": "10.244.0.7",
	} {
		requireAddress(t, c, name, want)
	}
	before := len(last.Asked())
	answer, err := c.Ask(t.Context(), "nobody.shop.svc.cluster.local", dns.TypeA)
	require.NoError(t, err)
	require.Equal(t, dns.RcodeNameError, answer.Rcode)
	require.Len(t, last.Asked(), before, "for its own domain the cluster alone answers")
	answer, err = c.Ask(t.Context(), "20.0.96.10.in-addr.arpa", dns.TypePTR)
	require.NoError(t, err)
	require.Len(t, answer.Answer, 1)
	require.Contains(t, answer.Answer[0].String(), "web.shop.svc.cluster.local.")
}

// nodesOwn names a nameserver that hardly answers: that it was asked is in the
// metrics.
func nodesOwn(t *testing.T, w *World, kubeconfig string) {
	c := w.coreDNS(t, kubeconfig)
	require.NoError(t, c.WriteFile("/etc/resolv.conf", "nameserver 127.0.0.9\n"))
	configure(t, c, intent.DNSCRIntent{})
	start(t, c)
	_, err := c.Ask(t.Context(), "www.example.org", dns.TypeA)
	require.NoError(t, err)
	wait.For(t, patience, "the metrics to tell who was asked", func() error {
		metrics, err := c.Metrics(t.Context())
		if err == nil && !strings.Contains(metrics, `to="127.0.0.9:53"`) {
			err = errors.New(metrics)
		}
		return err
	})
	requireAddress(t, c, "web.shop.svc.cluster.local", "10.96.0.20")
}

// policy asks as many names of three upstreams with a policy, and answers how
// often each of them was asked.
func policy(t *testing.T, w *World, kubeconfig, policy string, names int) []int {
	t.Helper()
	var all []*Upstream
	for i := range 3 {
		all = append(all, w.upstream(t, fmt.Sprintf("192.0.2.%d", i+1)))
	}
	c := w.run(t, kubeconfig, seed(all[0], forward("foo.com", policy, all...)))
	for i := range names {
		_, err := c.Address(t.Context(), fmt.Sprintf("n%d.foo.com", i))
		require.NoError(t, err)
	}
	var asked []int
	for _, u := range all {
		asked = append(asked, len(u.Asked()))
	}
	return asked
}

func sequential(t *testing.T, w *World, kubeconfig string) {
	require.Equal(t, []int{30, 0, 0}, policy(t, w, kubeconfig, "sequential", 30))
}

func roundRobin(t *testing.T, w *World, kubeconfig string) {
	require.Equal(t, []int{10, 10, 10}, policy(t, w, kubeconfig, "RoundRobin", 30))
}

// random is the default. That one of three is never asked in 90 times has a
// chance of one in 10^15, that each is asked equally often one in a hundred.
func random(t *testing.T, w *World, kubeconfig string) {
	asked := policy(t, w, kubeconfig, "", 90)
	require.Equal(t, 90, asked[0]+asked[1]+asked[2])
	for i := range asked {
		require.NotZero(t, asked[i])
	}
}

func dead(t *testing.T, w *World, kubeconfig string) {
	first, second := w.upstream(t, "192.0.2.1"), w.upstream(t, "192.0.2.2")
	first.Fall(true)
	c := w.run(t, kubeconfig, seed(second, forward("foo.com", "Sequential", first, second)))
	number := 0
	next := func() string { number++; return fmt.Sprintf("n%d.foo.com", number) }
	wait.For(t, time.Minute, "the dead upstream to be skipped", func() error {
		before, name := len(first.Asked()), next()
		requireAddress(t, c, name, second.Answer)
		if len(first.Asked()) > before {
			return fmt.Errorf("it was asked for %s", name)
		}
		return nil
	})
	before := len(first.Asked())
	for range 20 {
		requireAddress(t, c, next(), second.Answer)
	}
	require.Len(t, first.Asked(), before, "nobody waits for a dead upstream")
	first.Fall(false)
	wait.For(t, time.Minute, "the upstream that lives again to be asked", func() error {
		if address, err := c.Address(t.Context(), next()); err != nil || address != first.Answer {
			return fmt.Errorf("the answer is %s: %w", address, err)
		}
		return nil
	})
}

// allDead has CoreDNS count that its health checks are of no use, and then sees
// a name being asked for nevertheless.
func allDead(t *testing.T, w *World, kubeconfig string) {
	first, second := w.upstream(t, "192.0.2.1"), w.upstream(t, "192.0.2.2")
	first.Fall(true)
	second.Fall(true)
	c := w.run(t, kubeconfig, seed(w.upstream(t, "192.0.2.3"), forward("foo.com", "Sequential", first, second)))
	noneLeft := regexp.MustCompile(`(?m)^coredns_forward_healthcheck_broken_total [1-9]`)
	number := 0
	next := func() string { number++; return fmt.Sprintf("n%d.foo.com", number) }
	wait.For(t, time.Minute, "no upstream to be left", func() error {
		_, _ = c.Ask(t.Context(), next(), dns.TypeA) // nobody answers
		metrics, err := c.Metrics(t.Context())
		if err == nil && !noneLeft.MatchString(metrics) {
			err = errors.New(metrics)
		}
		return err
	})
	_, _ = c.Ask(t.Context(), next(), dns.TypeA)
	asked := slices.Concat(first.Asked(), second.Asked())
	require.True(t, slices.ContainsFunc(asked, func(q Question) bool { return q.Name == fmt.Sprintf("n%d.foo.com", number) }), "%v", asked)
}

func truncated(t *testing.T, w *World, kubeconfig string) {
	u := w.upstream(t, "192.0.2.1")
	u.Truncate()
	c := w.run(t, kubeconfig, seed(u, forward("foo.com", "", u)))
	requireAddress(t, c, "www.foo.com", u.Answer)
	require.Equal(t, []Question{{"www.foo.com", "udp"}, {"www.foo.com", "tcp"}}, u.Asked(), "UDP first, TCP on truncation")
	requireAddress(t, c, "www.example.org", u.Answer)
	require.Equal(t, []Question{{"www.example.org", "udp"}, {"www.example.org", "tcp"}}, u.Asked()[2:], "the last resort, too")
}

func forced(t *testing.T, w *World, kubeconfig string) {
	u := w.upstream(t, "192.0.2.1")
	spec := seed(u)
	spec.Servers = []intent.DNSServer{{Name: "foo", Zones: []string{"foo.com"}, ForwardPlugin: intent.DNSServerForward{
		Upstreams: []string{u.At.String()}, ProtocolStrategy: "TCP",
	}}}
	c := w.run(t, kubeconfig, spec)
	requireAddress(t, c, "www.foo.com", u.Answer)
	requireAddress(t, c, "www.example.org", u.Answer)
	require.Equal(t, []Question{{"www.foo.com", "tcp"}, {"www.example.org", "udp"}}, u.Asked())
}

func secure(t *testing.T, w *World, kubeconfig string) {
	certificate, bundle := certify(t, "dns.foo.com")
	u, err := StartUpstream(t.Context(), w.Ports, "192.0.2.1", &certificate)
	require.NoError(t, err)
	plain := w.upstream(t, "192.0.2.2")
	server := func(zone, name string, ca *intent.ConfigMapRef) intent.DNSServer {
		return intent.DNSServer{Name: "foo", Zones: []string{zone}, ForwardPlugin: intent.DNSServerForward{
			Upstreams:       []string{u.At.String()},
			TransportConfig: &intent.TransportConfig{Transport: "TLS", TLS: &intent.TransportTLS{ServerName: name, CABundle: ca}},
		}}
	}
	own := &intent.ConfigMapRef{Name: "foo.ca"}
	spec := seed(plain)
	spec.Servers = []intent.DNSServer{
		server("right.example", "dns.foo.com", own), server("wrong.example", "dns.bar.com", own), server("stranger.example", "dns.foo.com", nil),
	}
	c := w.coreDNS(t, kubeconfig)
	require.NoError(t, c.WriteFile("/etc/coredns-ca/foo.ca/ca-bundle.crt", string(bundle)))
	configure(t, c, spec)
	start(t, c)
	requireAddress(t, c, "www.right.example", u.Answer)
	for _, name := range []string{"www.wrong.example", "www.stranger.example"} {
		answer, err := c.Ask(t.Context(), name, dns.TypeA)
		require.NoError(t, err)
		require.Equal(t, dns.RcodeServerFailure, answer.Rcode, name)
	}
	require.Equal(t, []Question{{"www.right.example", "tcp"}}, u.Asked(), "no question went to whom nobody vouches for")
	require.Empty(t, plain.Asked())
}

// certify makes a certificate for one name, and the authority that vouches for
// it.
func certify(t *testing.T, name string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func reloaded(t *testing.T, w *World, kubeconfig string) {
	before, after := w.upstream(t, "192.0.2.1"), w.upstream(t, "192.0.2.2")
	c := w.run(t, kubeconfig, seed(before))
	requireAddress(t, c, "n0.foo.com", before.Answer)
	pid, number := c.PID(), 0
	configure(t, c, seed(before, forward("foo.com", "", after)))
	wait.For(t, time.Minute, "the changed Corefile to be read", func() error {
		number++
		if address, err := c.Address(t.Context(), fmt.Sprintf("n%d.foo.com", number)); err != nil || address != after.Answer {
			return fmt.Errorf("the answer is %s: %w", address, err)
		}
		return nil
	})
	require.Equal(t, pid, c.PID())
	requireAddress(t, c, "www.example.org", before.Answer)
	requireAddress(t, c, "web.shop.svc.cluster.local", "10.96.0.20")
}
