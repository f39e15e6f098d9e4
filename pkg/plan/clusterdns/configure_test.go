package clusterdns

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// asked is an intent, written as users write it.
func asked(t *testing.T, text string) plan.ClusterDNS {
	t.Helper()
	d := plan.ClusterDNS{Intent: "resolvers", Cluster: "edge+berlin", Domain: "cluster.local", Image: "coredns", ResolverImage: "signpost-dns"}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &d.Spec))
	d.Spec.Mode, d.Spec.Namespace = intent.Dedicated, intent.DefaultDNSNamespace
	return d
}

// TestPoliciesAreTakenInAnyLetterCase: Random by default, Sequential for the
// last resort.
func TestPoliciesAreTakenInAnyLetterCase(t *testing.T) {
	for written, want := range map[string]corefile.Policy{
		"": corefile.Random, "Random": corefile.Random, "random": corefile.Random,
		"RoundRobin": corefile.RoundRobin, "ROUNDROBIN": corefile.RoundRobin, "roundRobin": corefile.RoundRobin,
		"sequential": corefile.Sequential,
	} {
		d := asked(t, `
pluginConfig: {forwardPlugins: [{domain: a.example, nameservers: [192.0.2.1], policy: `+written+`}]}
servers: [{name: b, zones: [b.example], forwardPlugin: {upstreams: [192.0.2.1], policy: `+written+`}}]
upstreamResolvers: {policy: `+written+`}
`)
		c, err := Configure(d)
		require.NoError(t, err)
		require.Equal(t, want, c.Servers[0].Forward.Policy, written)
		require.Equal(t, want, c.Servers[1].Forward.Policy, written)
		if written == "" {
			want = corefile.Sequential
		}
		require.Equal(t, want, c.Resolvers.Policy, written)
	}
}

func TestPortsAreThoseOfTheTransport(t *testing.T) {
	c, err := Configure(asked(t, `
servers:
- {name: plain, zones: [a.example], forwardPlugin: {upstreams: [192.0.2.1, "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:5353"]}}
- name: secure
  zones: [b.example]
  forwardPlugin:
    upstreams: [192.0.2.1, "192.0.2.1:53", "2001:db8::1"]
    transportConfig: {transport: TLS, tls: {serverName: DNS.example., caBundle: {name: ca}}}
upstreamResolvers:
  upstreams: [{type: Network, address: 192.0.2.1}, {type: Network, address: "2001:db8::1", port: 5353}]
`))
	require.NoError(t, err)
	parse := func(all ...string) (out []netip.AddrPort) {
		for _, one := range all {
			out = append(out, netip.MustParseAddrPort(one))
		}
		return out
	}
	require.Equal(t, parse("192.0.2.1:53", "192.0.2.1:5353", "[2001:db8::1]:53", "[2001:db8::1]:5353"), c.Servers[0].Forward.Upstreams)
	require.Equal(t, parse("192.0.2.1:853", "192.0.2.1:53", "[2001:db8::1]:853"), c.Servers[1].Forward.Upstreams)
	require.Equal(t, &corefile.TLS{ServerName: "dns.example", CAFile: "/etc/coredns-ca/ca/ca-bundle.crt"}, c.Servers[1].Forward.TLS)
	require.Equal(t, parse("192.0.2.1:53", "[2001:db8::1]:5353"), c.Resolvers.Upstreams)
	require.False(t, c.Resolvers.System)
}

// TestUpstreamResolversAndTheSystem: resolv.conf is asked where nothing else is
// named, and where it is named among others.
func TestUpstreamResolversAndTheSystem(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                      "forward . /etc/resolv.conf",
		`{upstreamResolvers: {}}`: "forward . /etc/resolv.conf",
		`{upstreamResolvers: {upstreams: [{type: SystemResolvConf}]}}`:                                                                           "forward . /etc/resolv.conf",
		`{upstreamResolvers: {upstreams: [{type: SystemResolvConf}, {type: Network, address: 192.0.2.1}]}}`:                                      "forward . /etc/resolv.conf 192.0.2.1 {\n        prefer_udp\n        policy sequential",
		`{upstreamResolvers: {upstreams: [{type: Network, address: 192.0.2.1}], protocolStrategy: TCP}}`:                                         "forward . 192.0.2.1 {\n        force_tcp\n        policy sequential",
		`{upstreamResolvers: {upstreams: [{type: Network, address: 192.0.2.1, port: 54}], policy: random}}`:                                      "forward . 192.0.2.1:54 {\n        prefer_udp\n        policy random",
		`{upstreamResolvers: {upstreams: [{type: Network, address: 192.0.2.1}, {type: SystemResolvConf}, {type: Network, address: 192.0.2.2}]}}`: "forward . 192.0.2.1 /etc/resolv.conf 192.0.2.2 {",
		`{cache: {positiveTTL: 0s, negativeTTL: 0s}}`:                                                                                            "denial 9984 30",
		`{logLevel: trace, cache: {positiveTTL: 1m30s}}`:                                                                                         "success 9984 90",
		`{logLevel: trace, servers: [{name: a, zones: [a.b], forwardPlugin: {upstreams: [192.0.2.1]}}]}`:                                         "class all",
	} {
		c, err := Configure(asked(t, text))
		require.NoError(t, err, text)
		got, err := corefile.Build(c)
		require.NoError(t, err)
		require.Contains(t, got, want, text)
	}
}

// TestWhatCannotWorkComesBackWithPointers, all at once: what only the cluster
// tells, and whatever no check has caught before.
func TestWhatCannotWorkComesBackWithPointers(t *testing.T) {
	sixteen := strings.Repeat("192.0.2.1,", 16)
	for _, c := range []struct{ name, text, pointer, detail string }{
		{"the cluster's own domain", `{pluginConfig: {forwardPlugins: [{domain: Cluster.Local., nameservers: [192.0.2.1]}]}}`, "/spec/pluginConfig/forwardPlugins/0/domain", "holds the cluster's own domain cluster.local"},
		{"a domain around it", `{servers: [{name: a, zones: [a.b, local], forwardPlugin: {upstreams: [192.0.2.1]}}]}`, "/spec/servers/0/zones/1", "local holds the cluster's own domain"},
		{"the root", `{servers: [{name: a, zones: [.], forwardPlugin: {upstreams: [192.0.2.1]}}]}`, "/spec/servers/0/zones/0", "is the default server's"},
		{"the zone that tells which pod answers", `{servers: [{name: a, zones: [hostname.bind], forwardPlugin: {upstreams: [192.0.2.1]}}]}`, "/spec/servers/0/zones/0", "is the default server's"},
		{"what that lies in", `{servers: [{name: a, zones: [bind], forwardPlugin: {upstreams: [192.0.2.1]}}]}`, "/spec/servers/0/zones/0", "is the default server's"},
		{"Services' names that go to every node", `{nodeResolver: {services: [a/b]}, servers: [{name: a, zones: [svc.Cluster.Local.], forwardPlugin: {upstreams: [192.0.2.1]}}]}`, "/spec/servers/0/zones/0", "or remove nodeResolver"},
		{"not a zone", `{servers: [{name: a, zones: [], forwardPlugin: {upstreams: [192.0.2.1]}}]}`, "/spec/servers/0/zones", "name at least one zone"},
		{"one zone in two plugins", `{pluginConfig: {forwardPlugins: [{domain: a.b, nameservers: [192.0.2.1]}]}, servers: [{name: a, zones: [A.b], forwardPlugin: {upstreams: [192.0.2.1]}}]}`, "/spec/servers/0/zones/0", "has a server"},
		{"not a nameserver", `{pluginConfig: {forwardPlugins: [{domain: a.b, nameservers: []}]}}`, "/spec/pluginConfig/forwardPlugins/0/nameservers", "there are 0"},
		{"more than 15 nameservers", `{pluginConfig: {forwardPlugins: [{domain: a.b, nameservers: [` + sixteen + `]}]}}`, "/spec/pluginConfig/forwardPlugins/0/nameservers", "there are 16"},
		{"a host name", `{pluginConfig: {forwardPlugins: [{domain: a.b, nameservers: [dns.example]}]}}`, "/spec/pluginConfig/forwardPlugins/0/nameservers/0", "is not a nameserver"},
		{"an IPv6 address that lacks its brackets", `{servers: [{name: a, zones: [a.b], forwardPlugin: {upstreams: ["fe80::1%eth0"]}}]}`, "/spec/servers/0/forwardPlugin/upstreams/0", "is not a nameserver"},
		{"port 0", `{servers: [{name: a, zones: [a.b], forwardPlugin: {upstreams: ["192.0.2.1:0"]}}]}`, "/spec/servers/0/forwardPlugin/upstreams/0", "is not a nameserver"},
		{"resolv.conf of a server", `{servers: [{name: a, zones: [a.b], forwardPlugin: {upstreams: [/etc/resolv.conf]}}]}`, "/spec/servers/0/forwardPlugin/upstreams/0", "is not a nameserver"},
		{"an unknown policy", `{pluginConfig: {forwardPlugins: [{domain: a.b, nameservers: [192.0.2.1], policy: Fastest}]}}`, "/spec/pluginConfig/forwardPlugins/0/policy", `"Fastest" is none of Random, RoundRobin, Sequential`},
		{"TLS without a server name", `{servers: [{name: a, zones: [a.b], forwardPlugin: {upstreams: [192.0.2.1], transportConfig: {transport: TLS}}}]}`, "/spec/servers/0/forwardPlugin/transportConfig/tls/serverName", "is missing"},
		{"TLS to the system's nameservers", `{upstreamResolvers: {transportConfig: {transport: TLS, tls: {serverName: a.b}}}}`, "/spec/upstreamResolvers/transportConfig", "SystemResolvConf"},
		{"an upstream resolver that is not an address", `{upstreamResolvers: {upstreams: [{type: Network, address: dns.example}]}}`, "/spec/upstreamResolvers/upstreams/0/address", "is not an IP address"},
		{"a port that is none", `{upstreamResolvers: {upstreams: [{type: Network, address: 192.0.2.1, port: 65536}]}}`, "/spec/upstreamResolvers/upstreams/0/port", "65536 is not a port"},
		{"too many beside the system's", `{upstreamResolvers: {upstreams: [{type: SystemResolvConf},` + strings.Repeat(`{type: Network, address: 192.0.2.1},`, 13) + `]}}`, "/spec/upstreamResolvers/upstreams", "give at most 12"},
		{"a cache time of parts of seconds", `{cache: {positiveTTL: 1500ms}}`, "/spec/cache/positiveTTL", "whole seconds"},
		{"a cache time below nothing", `{cache: {negativeTTL: -1s}}`, "/spec/cache/negativeTTL", "whole seconds"},
		{"an unknown log level", `{logLevel: Loud}`, "/spec/logLevel", "none of Normal, Debug, Trace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Configure(asked(t, c.text))
			var failure *intent.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, intent.Invalid, failure.Code)
			require.Len(t, failure.Fields, 1)
			assert.Equal(t, c.pointer, failure.Fields[0].Pointer)
			assert.Contains(t, failure.Fields[0].Detail, c.detail)
			assert.Contains(t, failure.Detail, "resolvers cannot work on edge+berlin")
		})
	}
	_, err := Configure(asked(t, `{logLevel: Loud, cache: {positiveTTL: soon, negativeTTL: late}}`))
	var failure *intent.Error
	require.ErrorAs(t, err, &failure)
	require.Len(t, failure.Fields, 3, "all at once")
}

// TestImportTakesNoCABundle: it could not be mounted into a CoreDNS of somebody
// else, which would not start again with a bundle that is not there.
func TestImportTakesNoCABundle(t *testing.T) {
	d := load(t, "tls").DNS[0]
	d.Spec.Mode = intent.Import
	_, err := Configure(d)
	require.ErrorContains(t, err, "/spec/servers/0/forwardPlugin/transportConfig/tls/caBundle: cannot be given in mode import")
	_, err = Render(plan.Group{}, d, Placement(d))
	require.Error(t, err)
}

// TestTheClustersOwnDomainDecides: what holds one cluster's domain is outside of
// another's.
func TestTheClustersOwnDomainDecides(t *testing.T) {
	d := asked(t, `{servers: [{name: a, zones: [corp.internal], forwardPlugin: {upstreams: [192.0.2.1]}}]}`)
	_, err := Configure(d)
	require.NoError(t, err)
	d.Domain = "k8s.Corp.Internal"
	_, err = Configure(d)
	require.ErrorContains(t, err, "holds the cluster's own domain k8s.corp.internal")
	d.Domain, d.Spec.Servers[0].Zones[0] = "", "cluster.local"
	_, err = Configure(d)
	require.ErrorContains(t, err, "holds the cluster's own domain cluster.local", "which is the default")
}

// TestWhateverIsConfiguredRenders: no intent that Configure takes fails later,
// and each gives what an API server and a CoreDNS can read.
func TestWhateverIsConfiguredRenders(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		config, err := Configure(d)
		if err != nil {
			var failure *intent.Error
			require.ErrorAs(t, err, &failure)
			return
		}
		taken++
		text, err := corefile.Build(config)
		require.NoError(t, err)
		g := plan.Group{Installation: "k7wq2m9x", Path: "projects/shop/logical-clouds/eu", Project: plan.Project{Name: "shop"}, LogicalCloud: "eu"}
		objects, err := Render(g, d, Placement(d))
		require.NoError(t, err)
		for _, o := range objects {
			requireKnown(t, o)
			if o.Kind == "ConfigMap" && d.Spec.Mode == intent.Dedicated {
				quoted, err := json.Marshal(text)
				require.NoError(t, err)
				require.Contains(t, string(o.JSON), string(quoted))
			}
		}
	})
	require.NotZero(t, taken)
}

// drawn is an intent that may be wrong in places.
func drawn(t *rapid.T) plan.ClusterDNS {
	word := func(label string, all ...string) string { return rapid.SampledFrom(all).Draw(t, label) }
	zone := func() string {
		return word("zone", "a.example", "b.example", "x.a.example", "Example.ORG.", "c.example", "d.example", "local")
	}
	addresses := func() []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"192.0.2.1", "192.0.2.2:5353", "2001:db8::1", "[2001:db8::2]:54"}), 1, 15).Draw(t, "addresses")
	}
	transport := func() *intent.TransportConfig {
		return rapid.SampledFrom([]*intent.TransportConfig{
			nil, {}, {Transport: "Cleartext"},
			{Transport: "TLS", TLS: &intent.TransportTLS{ServerName: "dns.example"}},
			{Transport: "TLS", TLS: &intent.TransportTLS{ServerName: "dns.example", CABundle: &intent.ConfigMapRef{Name: word("ca", "ca", "my.ca")}}},
		}).Draw(t, "transport")
	}
	policy := func() string { return word("policy", "", "random", "RoundRobin", "SEQUENTIAL") }
	d := plan.ClusterDNS{
		Intent: "resolvers", Cluster: "edge+berlin", Domain: word("domain", "cluster.local", "corp.internal"), Image: "coredns", ResolverImage: "signpost-dns",
		Spec: intent.DNSCRIntent{
			Mode: intent.DNSMode(word("mode", "dedicated", "import")), Namespace: "signpost-dns", PluginConfig: &intent.DNSPluginConfig{},
			LogLevel: word("level", "", "Normal", "Debug", "Trace"), Cache: &intent.DNSCache{PositiveTTL: word("ttl", "", "1s", "2h")},
			NodePlacement: &intent.NodePlacement{Tolerations: []intent.Toleration{{Key: word("key", "a", "b"), Operator: "Exists"}}},
			NodeResolver:  &intent.NodeResolver{Services: rapid.SliceOfN(rapid.SampledFrom([]string{"a/b", "c/d"}), 0, 2).Draw(t, "services")},
		},
	}
	for range rapid.IntRange(0, 2).Draw(t, "plugins") {
		d.Spec.PluginConfig.ForwardPlugins = append(d.Spec.PluginConfig.ForwardPlugins, intent.ForwardPlugin{Domain: zone(), Nameservers: addresses(), Policy: policy()})
	}
	for range rapid.IntRange(0, 2).Draw(t, "servers") {
		forward := intent.DNSServerForward{Upstreams: addresses(), Policy: policy(), TransportConfig: transport(), ProtocolStrategy: word("strategy", "", "TCP")}
		d.Spec.Servers = append(d.Spec.Servers, intent.DNSServer{Name: word("name", "a", "b"), Zones: []string{zone()}, ForwardPlugin: forward})
	}
	upstreams := rapid.SliceOfN(rapid.SampledFrom([]intent.Upstream{{Type: "SystemResolvConf"}, {Type: "Network", Address: "192.0.2.1"}, {Type: "Network", Address: "2001:db8::1", Port: 54}}), 0, 4).Draw(t, "resolvers")
	d.Spec.UpstreamResolvers = &intent.UpstreamResolvers{Upstreams: upstreams, Policy: policy(), TransportConfig: transport()}
	return d
}
