package clusterdns

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// stockAutopath is seed "DNS autopath in PodSpec" with stock CoreDNS alone: a
// name in the search domain of a namespace is what the namespace's search paths
// make of it.
func stockAutopath(t *testing.T, w *World, kubeconfig string) {
	corp, last := w.upstream(t, "192.0.2.1"), w.upstream(t, "192.0.2.2")
	spec := seed(last, forward("corp.example", "", corp))
	spec.Autopath = &intent.Autopath{Mode: intent.AutopathStatic, Namespaces: []string{"batch", "shop"}, Searches: []string{"corp.example"}}
	c := w.coreDNS(t, kubeconfig)
	config := configure(t, c, spec)
	start(t, c)
	plugin := func(name string) string {
		return corefile.Follow(config, corefile.Query{Name: strings.ToLower(name), Type: "A"}).Plugin
	}
	const shop, batch = ".search.shop.cluster.local.ap.k8s.io", ".search.batch.cluster.local.ap.k8s.io"
	for name, want := range map[string]string{
		"web" + shop: "web.shop.svc.cluster.local. 10.96.0.20", "web.shop" + batch: "web.shop.svc.cluster.local. 10.96.0.20", "web.shop.svc" + batch: "web.shop.svc.cluster.local. 10.96.0.20",
		"WEB" + shop: "web.shop.svc.cluster.local. 10.96.0.20", "db" + shop: "db.shop.svc.cluster.local. 10.244.0.7",
		"web" + batch: "web.corp.example. 192.0.2.1", "www.example.org" + shop: "www.example.org.corp.example. 192.0.2.1",
	} {
		answer, err := c.Ask(t.Context(), name, dns.TypeA)
		require.NoError(t, err, c.Tail(20))
		require.Equal(t, dns.RcodeSuccess, answer.Rcode, name)
		require.Equal(t, "autopath", plugin(name), "as a trace tells")
		require.Len(t, answer.Answer, 2, name)
		require.Equal(t, want, strings.ToLower(answer.Answer[0].(*dns.CNAME).Target)+" "+answer.Answer[1].(*dns.A).A.String(), name)
	}
	const missing = dns.RcodeNameError
	for name, want := range map[string]int{
		"web.search.other.cluster.local.ap.k8s.io": missing, "search.other.cluster.local.ap.k8s.io": missing, "other.cluster.local.ap.k8s.io": missing, "x.ap.k8s.io": missing, "xlocal.ap.k8s.io": missing,
		"search.shop.cluster.local.ap.k8s.io": dns.RcodeSuccess, "Shop.cluster.local.ap.k8s.io": dns.RcodeSuccess, "batch.cluster.local.ap.k8s.io": dns.RcodeSuccess,
		"cluster.local.ap.k8s.io": dns.RcodeSuccess, "local.ap.k8s.io": dns.RcodeSuccess, "ap.k8s.io": dns.RcodeSuccess,
	} {
		answer, err := c.Ask(t.Context(), name, dns.TypeA)
		require.NoError(t, err)
		require.Equal(t, want, answer.Rcode, "search domains and their ancestors exist, and have no records: %s", name)
		require.Empty(t, answer.Answer, name)
		require.Len(t, answer.Ns, 1)
		require.Equal(t, "template", plugin(name), "as a trace tells")
	}
	require.Empty(t, last.Asked(), "nothing about search domains leaves the cluster")
}

// stockAutopathMissing is a name that no search path has: one answer says so,
// after which no resolver asks for the name as it was meant, as NXDOMAIN would
// have it do.
func stockAutopathMissing(t *testing.T, w *World, kubeconfig string) {
	last := w.upstream(t, "192.0.2.2")
	spec := seed(last)
	spec.Autopath = &intent.Autopath{Mode: intent.AutopathStatic, Namespaces: []string{"shop"}}
	c := w.run(t, kubeconfig, spec)
	for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
		answer, err := c.Ask(t.Context(), "nobody.shop.svc.cluster.local.search.shop.cluster.local.ap.k8s.io", kind)
		require.NoError(t, err, c.Tail(20))
		require.Equal(t, dns.RcodeSuccess, answer.Rcode)
		require.Len(t, answer.Answer, 1)
		require.Equal(t, "none.ap.k8s.io.", answer.Answer[0].(*dns.CNAME).Target)
		require.Len(t, answer.Ns, 1)
		require.EqualValues(t, 30, answer.Ns[0].(*dns.SOA).Minttl, "it is forgotten as soon as a name may be there")
	}
	require.Empty(t, last.Asked())
}
