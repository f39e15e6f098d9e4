package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const resolversPath = "projects/shop/logical-clouds/eu/dns-cr-intents/resolvers"

func TestTraceTellsTheWay(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+resolversPath+"/trace", 200, "DNSWay", example(t, "dnsWay"))
	got := signpost(t, f.url, "corefile", "trace", "shop/eu/resolvers", "www.a.foo.com")
	require.Equal(t, result{exitDone, `www.a.foo.com A

SERVER          PLUGIN   POLICY       UPSTREAMS
a.foo.com:5353  forward  round_robin  1.2.3.4:53

- a.foo.com is the longest zone that www.a.foo.com belongs to
- upstreams are asked over UDP, and over TCP when the answer was truncated
`, ""}, got)
	require.JSONEq(t, example(t, "dnsWay"), signpost(t, f.url, "corefile", "trace", "v2/project/shop/logical-clouds/eu/dns-cr-intents/resolvers/", "www.a.foo.com", "-o", "json").out)
	require.Equal(t, []string{"POST " + resolversPath + "/trace", "POST " + resolversPath + "/trace"}, f.seen())
}

func TestTraceThroughTheServer(t *testing.T) {
	t.Parallel()
	service := startService(t)
	documents := write(t, "shop.yaml", `
{resource: projects, metadata: {name: shop}, spec: {}}
---
{resource: cluster-providers, metadata: {name: edge}, spec: {}}
---
{resource: cluster-providers/edge/clusters, metadata: {name: berlin}, spec: {directory: berlin, dns: {domain: berlin.example}}}
---
{resource: projects/shop/logical-clouds, metadata: {name: eu}, spec: {}}
---
{resource: projects/shop/logical-clouds/eu/cluster-references, metadata: {name: berlin}, spec: {clusterProvider: edge, cluster: berlin}}
---
{resource: projects/shop/logical-clouds/eu/dns-cr-intents, metadata: {name: resolvers}, spec: {pluginConfig: {forwardPlugins: [
  {domain: foo.com, nameservers: [1.2.3.4]}, {domain: a.foo.com, nameservers: [5.6.7.8, "[2001:db8::1]:5353"], policy: roundrobin}]}}}
`)
	require.Equal(t, exitDone, signpost(t, service.url, "apply", "-f", documents).code)
	for _, one := range []struct {
		args []string
		want string
	}{
		{[]string{"www.a.foo.com"}, "a.foo.com:5353  forward  round_robin  5.6.7.8:53 [2001:db8::1]:5353"},
		{[]string{"WWW.FOO.com.", "aaaa"}, "foo.com:5353  forward  random  1.2.3.4:53"},
		{[]string{"a.foo.com", "DS"}, "foo.com:5353  forward"},
		{[]string{"example.org"}, ".:5353  forward  sequential  /etc/resolv.conf"},
		{[]string{"web.shop.svc.cluster.local"}, ".:5353  kubernetes  -"},
		{[]string{"web.shop.svc.berlin.example", "--cluster", "edge+berlin"}, ".:5353  kubernetes  -"},
	} {
		got := signpost(t, service.url, append([]string{"corefile", "trace", "shop/eu/resolvers"}, one.args...)...)
		require.Equal(t, exitDone, got.code, got.err)
		require.Contains(t, got.out, one.want, one.args)
	}
	for _, one := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"shop/eu/resolvers", "a..b"}, exitFailed, `/name: "a..b" has an empty label`},
		{[]string{"shop/eu/resolvers", "a", "BOGUS"}, exitFailed, "/type: "},
		{[]string{"shop/eu/resolvers", "a", "--cluster", "edge+paris"}, exitFailed, "/cluster: edge+paris is not registered"},
		{[]string{"shop/eu/others", "a"}, exitFailed, "does not exist"},
		{[]string{"shop/eu", "a"}, exitUsage, "is not a DNS CR intent"},
		{[]string{"projects/shop/logical-clouds/eu", "a"}, exitUsage, "is not a DNS CR intent"},
		{[]string{"shop/eu/resolvers"}, exitUsage, "takes a DNS CR intent, a name"},
	} {
		got := signpost(t, service.url, append([]string{"corefile", "trace"}, one.args...)...)
		require.Equal(t, one.code, got.code, one.args)
		require.Contains(t, got.err, one.says, one.args)
	}
}
