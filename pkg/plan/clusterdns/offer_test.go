package clusterdns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func TestOfferIsWhatPodsCanUse(t *testing.T) {
	cache := &intent.NodeLocalDNS{Enabled: true, LocalIP: "169.254.99.1"}
	edns0, static := &intent.Autopath{}, &intent.Autopath{Mode: "Static", Namespaces: []string{"batch"}}
	for _, c := range []struct {
		reason string
		spec   intent.DNSCRIntent
		want   *AutopathOffer
	}{
		{"no autopath", intent.DNSCRIntent{}, nil},
		{"a cache alone", intent.DNSCRIntent{NodeLocalDNS: cache}, nil},
		{"somebody else's CoreDNS", intent.DNSCRIntent{Mode: intent.Import, Autopath: edns0}, nil},
		{"edns0 has a cache on every node, by itself", intent.DNSCRIntent{Autopath: edns0}, &AutopathOffer{LocalIP: "169.254.20.10", Domain: "cluster.local"}},
		{"the cache is where it was asked for", intent.DNSCRIntent{Autopath: edns0, NodeLocalDNS: cache}, &AutopathOffer{LocalIP: "169.254.99.1", Domain: "cluster.local"}},
		{"static without a cache is at the Service", intent.DNSCRIntent{Autopath: static}, &AutopathOffer{Domain: "cluster.local", Static: true, Namespaces: []string{"batch"}}},
		{"static behind a cache", intent.DNSCRIntent{Autopath: static, NodeLocalDNS: &intent.NodeLocalDNS{Enabled: true}}, &AutopathOffer{LocalIP: "169.254.20.10", Domain: "cluster.local", Static: true, Namespaces: []string{"batch"}}},
		{"a cache that is not enabled", intent.DNSCRIntent{Autopath: static, NodeLocalDNS: &intent.NodeLocalDNS{LocalIP: "169.254.99.1"}}, &AutopathOffer{Domain: "cluster.local", Static: true, Namespaces: []string{"batch"}}},
	} {
		got, ok := Offer(plan.ClusterDNS{Spec: c.spec})
		require.Equal(t, c.want != nil, ok, c.reason)
		if ok {
			require.Equal(t, *c.want, got, c.reason)
		}
	}
	got, _ := Offer(plan.ClusterDNS{Domain: "Cluster.Example.", Spec: intent.DNSCRIntent{Autopath: edns0, NodeLocalDNS: &intent.NodeLocalDNS{Enabled: true, LocalIP: "FD00:0::0010"}}})
	require.Equal(t, AutopathOffer{LocalIP: "fd00::10", Domain: "cluster.example"}, got, "one address is one, however it is written")
}
