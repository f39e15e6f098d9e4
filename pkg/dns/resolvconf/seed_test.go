package resolvconf

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// host is the /etc/resolv.conf that the seed "configurable pod DNS" assumes.
const host = `nameserver 10.1.1.10
search foo.com
options ndots:1
`

// node is the one of the seeds' examples.
func node(t *testing.T) Node {
	t.Helper()
	parsed, err := Parse(host)
	require.NoError(t, err)
	return Node{Host: parsed, ClusterDomain: "cluster.local", ClusterDNS: []string{"10.0.0.10"}, Autopath: "169.254.20.10"}
}

// resolvConf is what a pod of this intent gets in a namespace of the seeds' node.
func resolvConf(t *testing.T, namespace, spec string) string {
	t.Helper()
	var in intent.PodDNSIntent
	require.NoError(t, json.Unmarshal([]byte(spec), &in))
	settings, warnings := node(t).Settings(Pod{Namespace: namespace, Policy: in.DNSPolicy.Canonical(), Config: in.DNSConfig})
	require.Empty(t, warnings)
	return Text(settings)
}

func TestSeedConfigurablePodDNS(t *testing.T) {
	require.Equal(t, host, resolvConf(t, "default", `{"dnsPolicy":"Default"}`), "Host /etc/resolv.conf")
	require.Equal(t, `nameserver 1.2.3.4
search ns1.svc.cluster.local my.dns.search.suffix
options ndots:2 edns0
`, resolvConf(t, "ns1", `{
		"dnsPolicy": "Custom",
		"dnsConfig": {
			"nameservers": ["1.2.3.4"],
			"searches": ["ns1.svc.cluster.local", "my.dns.search.suffix"],
			"options": [{"name": "ndots", "value": 2}, {"name": "edns0"}]}}`), "Override DNS server and search paths")
	require.Equal(t, `nameserver 10.0.0.10
search default.svc.cluster.local svc.cluster.local cluster.local foo.com
options ndots:1
`, resolvConf(t, "default", `{"dnsPolicy":"ClusterFirst","dnsConfig":{"options":[{"name":"ndots","value":1}]}}`), "Overriding ndots")
}

func TestSeedDNSAutopathInPodSpec(t *testing.T) {
	for _, spelling := range []string{"clusterFirstWithAutopath", "ClusterFirstWithAutopath"} {
		require.Equal(t, `nameserver 169.254.20.10
search search.default.cluster.local.ap.k8s.io
options ndots:5
`, resolvConf(t, "default", `{"dnsPolicy":"`+spelling+`"}`))
	}
}

// "When pod issues a query to lookup hostname "service123", it is expanded to 6
// queries … this can be a total of 12"; with autopath, "at most 2 (A, AAAA)".
func TestSeedQueriesOfALookup(t *testing.T) {
	n := node(t)
	n.Host.Searches = []string{"foo.com", "bar.com"} // "host level suffixes, which might be 2 or 3 in number"
	cost := n.Preview(Pod{Namespace: "default", Policy: intent.DNSAutopath}, "service123").Queries
	require.Equal(t, []string{
		"service123.default.svc.cluster.local. A", "service123.default.svc.cluster.local. AAAA",
		"service123.svc.cluster.local. A", "service123.svc.cluster.local. AAAA",
		"service123.cluster.local. A", "service123.cluster.local. AAAA",
		"service123.foo.com. A", "service123.foo.com. AAAA",
		"service123.bar.com. A", "service123.bar.com. AAAA",
		"service123. A", "service123. AAAA",
	}, cost.Before)
	require.Equal(t, []string{
		"service123.search.default.cluster.local.ap.k8s.io. A",
		"service123.search.default.cluster.local.ap.k8s.io. AAAA",
	}, cost.After)
}
