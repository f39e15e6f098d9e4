package corefile_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

func TestStories(t *testing.T) {
	story.Check(t, func(t *testing.T, c corefile.Config) string {
		text, err := corefile.Build(c)
		require.NoError(t, err)
		return text
	})
}

func upstreams(addresses ...string) []netip.AddrPort {
	var all []netip.AddrPort
	for _, address := range addresses {
		all = append(all, netip.MustParseAddrPort(address))
	}
	return all
}

// example has a zone within a zone.
func example() corefile.Config {
	return corefile.Config{Servers: []corefile.Server{
		{Name: "foo", Zones: []string{"foo.com", "bar.com"}, Forward: corefile.Forward{Upstreams: upstreams("1.2.3.4:53"), Policy: corefile.RoundRobin}},
		{Name: "a", Zones: []string{"a.foo.com"}, Forward: corefile.Forward{Upstreams: upstreams("5.6.7.8:853"), TLS: &corefile.TLS{ServerName: "dns.a.foo.com"}}},
	}}
}

func TestTheOrderOfServersAndZonesIsOfNoMeaning(t *testing.T) {
	want, err := corefile.Build(example())
	require.NoError(t, err)
	other := example()
	slices.Reverse(other.Servers)
	for i := range other.Servers {
		slices.Reverse(other.Servers[i].Zones)
	}
	got, err := corefile.Build(other)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestCacheTimesAreWholeSeconds(t *testing.T) {
	text, err := corefile.Build(corefile.Config{Cache: corefile.Cache{Positive: time.Hour, Negative: 90 * time.Second}})
	require.NoError(t, err)
	require.Contains(t, text, "success 9984 3600\n")
	require.Contains(t, text, "denial 9984 90\n")
}

func TestServersAloneAreForAnImport(t *testing.T) {
	c := example()
	c.Port = 53
	text, err := corefile.BuildServers(c)
	require.NoError(t, err)
	require.Equal(t, `# a
a.foo.com:53 {
    errors
    forward . tls://5.6.7.8:853 {
        tls_servername dns.a.foo.com
        tls
        policy random
    }
    cache {
        success 9984 900
        denial 9984 30
    }
}
# foo
bar.com:53 foo.com:53 {
    errors
    forward . 1.2.3.4 {
        prefer_udp
        policy round_robin
    }
    cache {
        success 9984 900
        denial 9984 30
    }
}
`, text)
}

// Whom a Sequential last resort asks first depends on it.
func TestTheNodesOwnNameserversHaveTheirPlaceAmongUpstreams(t *testing.T) {
	for after, want := range [][]string{
		{"/etc/resolv.conf", "192.0.2.1:53", "192.0.2.2:53"},
		{"192.0.2.1:53", "/etc/resolv.conf", "192.0.2.2:53"},
		{"192.0.2.1:53", "192.0.2.2:53", "/etc/resolv.conf"},
		{"192.0.2.1:53", "192.0.2.2:53", "/etc/resolv.conf"},
	} {
		c := corefile.Config{Resolvers: corefile.Resolvers{
			System: true, SystemAfter: after, Forward: corefile.Forward{Upstreams: upstreams("192.0.2.1:53", "192.0.2.2:53")},
		}}
		text, err := corefile.Build(c)
		require.NoError(t, err)
		require.Contains(t, text, "forward . "+strings.ReplaceAll(strings.Join(want, " "), ":53", "")+" {\n        prefer_udp\n        policy sequential")
		require.Equal(t, want, corefile.Follow(c, query("example.org")).Upstreams)
	}
}

// No value can break out of its place.
func TestWhatIsNoSingleWordIsRefused(t *testing.T) {
	for _, zone := range []string{"a b", "a\nb", "a{", "a}", `"a"`, "{$HOME}", "#a", `a\`, "`a`"} {
		c := corefile.Config{Servers: []corefile.Server{{Zones: []string{zone}, Forward: corefile.Forward{Upstreams: upstreams("1.2.3.4:53")}}}}
		_, err := corefile.Build(c)
		require.ErrorContains(t, err, "is not a single word", zone)
	}
	text, err := corefile.Build(corefile.Config{Servers: []corefile.Server{{
		Name: "a\nb {", Zones: []string{"a"}, Forward: corefile.Forward{Upstreams: upstreams("1.2.3.4:53")},
	}}})
	require.NoError(t, err)
	require.Contains(t, text, "# a b {\n", "a name is a comment, on one line")
}

func query(name string) corefile.Query { return corefile.Query{Name: name, Type: "A"} }

func TestFollowTakesTheLongestZone(t *testing.T) {
	forwarded := func(server, policy string, upstreams ...string) corefile.Way {
		return corefile.Way{Server: server, Plugin: "forward", Policy: policy, Upstreams: upstreams}
	}
	for _, one := range []struct {
		name string
		want corefile.Way
	}{
		{"www.a.foo.com", forwarded("a.foo.com:5353", "random", "tls://5.6.7.8:853")},
		{"a.foo.com", forwarded("a.foo.com:5353", "random", "tls://5.6.7.8:853")},
		{"www.foo.com", forwarded("foo.com:5353", "round_robin", "1.2.3.4:53")},
		{"www.b.bar.com", forwarded("bar.com:5353", "round_robin", "1.2.3.4:53")},
		{"notfoo.com", forwarded(".:5353", "sequential", "/etc/resolv.conf")},
		{"com", forwarded(".:5353", "sequential", "/etc/resolv.conf")},
		{"10.2.0.192.in-addr.arpa", forwarded(".:5353", "sequential", "/etc/resolv.conf")},
		{"web.shop.svc.cluster.local", corefile.Way{Server: ".:5353", Plugin: "kubernetes"}},
		{"cluster.local", corefile.Way{Server: ".:5353", Plugin: "kubernetes"}},
		{"hostname.bind", corefile.Way{Server: "hostname.bind:5353", Plugin: "chaos"}},
		{".", forwarded(".:5353", "sequential", "/etc/resolv.conf")},
	} {
		got := corefile.Follow(example(), query(one.name))
		require.NotEmpty(t, got.Why, one.name)
		got.Why = nil
		require.Equal(t, one.want, got, one.name)
	}
}

func TestFollowSaysWhy(t *testing.T) {
	require.Equal(t, []string{
		"a.foo.com is the longest zone that www.a.foo.com belongs to",
		"upstreams are asked over TLS as dns.a.foo.com",
	}, corefile.Follow(example(), query("www.a.foo.com")).Why)
	c := example()
	c.Resolvers = corefile.Resolvers{System: true, Forward: corefile.Forward{Upstreams: upstreams("192.0.2.1:53"), ForceTCP: true}}
	require.Equal(t, []string{
		"no server has a zone that 5.ip6.arpa belongs to, so the default server gets it",
		"ip6.arpa is for addresses: the cluster answers for its own and passes on the others",
		"the last resort is the upstream resolvers and the node's own",
		"upstreams are asked over TCP",
	}, corefile.Follow(c, query("5.ip6.arpa")).Why)
}

// CoreDNS looks for the parent, and finds the server that is farthest up.
func TestFollowTakesTheShortestZoneForDS(t *testing.T) {
	for name, want := range map[string]string{"www.a.foo.com": "foo.com:5353", "a.foo.com": "foo.com:5353", "foo.com": "foo.com:5353", "com": ".:5353"} {
		way := corefile.Follow(example(), corefile.Query{Name: name, Type: "DS"})
		require.Equal(t, want, way.Server, name)
	}
}

func TestFollowServersAlone(t *testing.T) {
	way, ok := corefile.FollowServers(example(), query("www.foo.com"))
	require.True(t, ok)
	require.Equal(t, corefile.Follow(example(), query("www.foo.com")), way)
	for _, name := range []string{"example.org", "web.shop.svc.cluster.local", "hostname.bind"} {
		_, ok := corefile.FollowServers(example(), query(name))
		require.False(t, ok, name)
	}
}
