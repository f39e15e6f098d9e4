package clusterdns

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

// TestOpenShiftsOutputsAreMatchedInMeaning holds Corefiles in the form that
// OpenShift's DNS operator gives them today beside ours, block by block. What
// is left to differ is said in meaning.
func TestOpenShiftsOutputsAreMatchedInMeaning(t *testing.T) {
	for _, c := range []struct{ name, intent, openshift string }{
		{"nothing said", `{}`, defaultBlock("/etc/resolv.conf", "policy sequential", "error", "900", "30")},
		{
			"policies",
			`
servers:
- {name: foo, zones: [foo.com], forwardPlugin: {upstreams: [1.1.1.1, "2.2.2.2:5353"], policy: RoundRobin}}
- {name: bar, zones: [bar.com, example.com], forwardPlugin: {upstreams: [3.3.3.3]}}
- {name: fizz, zones: [fizz.com], forwardPlugin: {upstreams: ["5.5.5.5:5353"], policy: Sequential}}
upstreamResolvers: {policy: Random, upstreams: [{type: SystemResolvConf}, {type: Network, address: 1001:AAAA:BBBB:CCCC::2222, port: 54}]}
`,
			serverBlock("foo.com:5353", "1.1.1.1 2.2.2.2:5353", "policy round_robin", "error", "900", "30") +
				serverBlock("bar.com:5353 example.com:5353", "3.3.3.3", "policy random", "error", "900", "30") +
				serverBlock("fizz.com:5353", "5.5.5.5:5353", "policy sequential", "error", "900", "30") +
				defaultBlock("/etc/resolv.conf [1001:AAAA:BBBB:CCCC::2222]:54", "policy random", "error", "900", "30"),
		},
		{
			"TLS, with the system's certificates and with a bundle",
			`
servers:
- name: foo
  zones: [foo.com]
  forwardPlugin: {upstreams: [1.1.1.1, "2.2.2.2:5353"], policy: RoundRobin, transportConfig: {transport: TLS, tls: {serverName: dns.foo.com, caBundle: {name: ca}}}}
- name: bar
  zones: [bar.com]
  forwardPlugin: {upstreams: [3.3.3.3], transportConfig: {transport: TLS, tls: {serverName: dns.bar.com}}}
upstreamResolvers:
  upstreams: [{type: Network, address: 100.1.1.1}]
  transportConfig: {transport: TLS, tls: {serverName: dns.example.com}}
`,
			serverBlock("foo.com:5353", "tls://1.1.1.1 tls://2.2.2.2:5353", "tls_servername dns.foo.com\ntls /etc/coredns-ca/ca/ca-bundle.crt\npolicy round_robin", "error", "900", "30") +
				serverBlock("bar.com:5353", "tls://3.3.3.3", "tls_servername dns.bar.com\ntls\npolicy random", "error", "900", "30") +
				defaultBlock("tls://100.1.1.1", "tls_servername dns.example.com\ntls\npolicy sequential", "error", "900", "30"),
		},
		{
			"forced TCP",
			`
servers: [{name: foo, zones: [foo.com], forwardPlugin: {upstreams: [1.1.1.1], protocolStrategy: TCP}}]
upstreamResolvers: {protocolStrategy: TCP}
`,
			serverBlock("foo.com:5353", "1.1.1.1", "force_tcp\npolicy random", "error", "900", "30") +
				defaultBlock("/etc/resolv.conf", "force_tcp\npolicy sequential", "error", "900", "30"),
		},
		{
			"cache",
			`
servers: [{name: foo, zones: [foo.com], forwardPlugin: {upstreams: [1.1.1.1]}}]
cache: {positiveTTL: 2m, negativeTTL: 1m}
`,
			serverBlock("foo.com:5353", "1.1.1.1", "policy random", "error", "120", "60") +
				defaultBlock("/etc/resolv.conf", "policy sequential", "error", "120", "60"),
		},
		{"log level Debug", `{logLevel: Debug}`, defaultBlock("/etc/resolv.conf", "policy sequential", "denial error", "900", "30")},
		{"log level Trace", `{logLevel: Trace}`, defaultBlock("/etc/resolv.conf", "policy sequential", "all", "900", "30")},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := Configure(asked(t, c.intent))
			require.NoError(t, err)
			ours, err := corefile.Build(config)
			require.NoError(t, err)
			require.Equal(t, meaning(t, c.openshift+"hostname.bind:5353 {\nchaos\n}\n"), meaning(t, ours))
		})
	}
}

func serverBlock(zones, upstreams, options, classes, success, denial string) string {
	return zones + " {\nprometheus 127.0.0.1:9153\nforward . " + upstreams + " {\n" + options + "\n}\nerrors\nlog . {\nclass " + classes +
		"\n}\nbufsize 1232\ncache " + success + " {\ndenial 9984 " + denial + "\n}\n}\n"
}

func defaultBlock(upstreams, options, classes, success, denial string) string {
	return ".:5353 {\nbufsize 1232\nerrors\nlog . {\nclass " + classes + "\n}\nhealth {\nlameduck 20s\n}\nready\n" +
		"kubernetes cluster.local in-addr.arpa ip6.arpa {\npods insecure\nfallthrough in-addr.arpa ip6.arpa\n}\n" +
		"prometheus 127.0.0.1:9153\nforward . " + upstreams + " {\n" + options + "\n}\n" +
		"cache " + success + " {\ndenial 9984 " + denial + "\n}\nreload\n}\n"
}

// meaning is a Corefile as its blocks with their plugins, both in order, in one
// spelling. Metrics are OpenShift's for a proxy in the pod, and ours for
// everybody; OpenShift has no loop protection, and leaves it to the client to
// ask again over TCP. None of it shows here.
func meaning(t *testing.T, text string) map[string][]string {
	t.Helper()
	blocks := map[string][]string{}
	var zones, plugin string
	for line := range strings.Lines(text) {
		inner, opens := strings.CutSuffix(strings.TrimSpace(line), " {")
		words := strings.Fields(inner)
		switch {
		case words[0] == "#":
		case words[0] == "}" && plugin != "":
			plugin = ""
		case words[0] == "}":
			slices.Sort(blocks[zones])
			zones = ""
		case zones == "":
			slices.Sort(words)
			zones = strings.Join(words, " ")
			require.NotContains(t, blocks, zones)
			blocks[zones] = nil
		default:
			if said := spell(plugin, words); said != "" {
				blocks[zones] = append(blocks[zones], said)
			}
			if opens {
				plugin = words[0] + ": "
			}
		}
	}
	return blocks
}

// spell writes a plugin, or a property of one, in one spelling: addresses have
// ports, and each of the cache's times is a property. It is empty for what is
// left to differ, and for what says nothing by itself.
func spell(plugin string, words []string) string {
	switch {
	case words[0] == "loop", words[0] == "prefer_udp", words[0] == "cache" && len(words) == 1:
		return ""
	case words[0] == "prometheus":
		return "prometheus"
	case words[0] == "cache":
		return "cache: success 9984 " + words[1]
	case words[0] == "forward":
		for i := range words {
			words[i] = withPort(words[i])
		}
	}
	return plugin + strings.Join(words, " ")
}

func withPort(upstream string) string {
	address, secure := strings.CutPrefix(upstream, "tls://")
	port := uint16(dnsPort)
	if secure {
		port = dnsOverTLS
	}
	if at, err := netip.ParseAddr(address); err == nil {
		upstream = netip.AddrPortFrom(at, port).String()
	} else if at, err := netip.ParseAddrPort(address); err == nil {
		upstream = at.String()
	}
	if secure {
		return "tls://" + strings.TrimPrefix(upstream, "tls://")
	}
	return upstream
}
