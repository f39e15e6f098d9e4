// Package draw makes documents for property tests.
package draw

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// DNSCRIntent draws a DNS CR intent: most of its values are right, the others
// nearly.
func DNSCRIntent(t *rapid.T) intent.DNSCRIntent {
	d := intents{t}
	s := intent.DNSCRIntent{
		LogLevel: d.word("log level", "", "Normal", "debug", "TRACE"),
		Mode:     rapid.SampledFrom([]intent.DNSMode{"", intent.Dedicated, intent.Import}).Draw(t, "mode"),
	}
	const most = 4
	if d.coin("plugins") {
		s.PluginConfig = &intent.DNSPluginConfig{}
		for range d.count("plugins", most) {
			s.PluginConfig.ForwardPlugins = append(s.PluginConfig.ForwardPlugins,
				intent.ForwardPlugin{Domain: d.zone(), Nameservers: d.nameservers(), Policy: d.policy()})
		}
	}
	for i := range d.count("servers", most) {
		s.Servers = append(s.Servers, d.server(strings.Repeat("x", i)))
	}
	if d.coin("resolvers") {
		s.UpstreamResolvers = d.resolvers()
	}
	if d.coin("cache") {
		s.Cache = &intent.DNSCache{PositiveTTL: d.ttl(), NegativeTTL: d.ttl()}
	}
	if s.Mode != intent.Import || d.rare("autopath of an import", most) {
		s.NodeLocalDNS, s.Autopath = d.nodeLocalDNS(), d.autopath()
	}
	return s
}

// intents draws the parts of DNS CR intents.
type intents struct{ *rapid.T }

// rare is true once in so many times.
func (d intents) rare(label string, times int) bool {
	return rapid.Uint64().Draw(d.T, label)%uint64(times) == uint64(times)/2 //nolint:gosec // never negative
}

func (d intents) coin(label string) bool { return rapid.Bool().Draw(d.T, label) }

func (d intents) count(label string, most int) int { return rapid.IntRange(0, most).Draw(d.T, label) }

// word draws one of some words, and rarely anything.
func (d intents) word(label string, words ...string) string {
	const rarely = 400
	if d.rare(label+" odd", rarely) {
		return rapid.String().Draw(d.T, label)
	}
	return rapid.SampledFrom(words).Draw(d.T, label)
}

// zone draws a zone: most often one that no other is like.
func (d intents) zone() string {
	const rarely = 12
	if d.rare("known zone", rarely) {
		return d.word("zone", "foo.com", "a.foo.com", "Bücher.example", "10.in-addr.arpa", "svc.cluster.local", "cluster.local", "local",
			"hostname.bind", "bind", ".", "in-addr.arpa", "8.b.d.0.1.0.0.2.ip6.arpa", "import", "foo_bar.com")
	}
	return rapid.StringMatching(`[a-zA-Z]([a-z0-9-]{0,6}[a-z0-9])?(\.[a-z]{1,9}){1,3}\.?`).Draw(d.T, "zone")
}

func (d intents) nameservers() []string {
	const most = 15
	count := 1 + d.count("nameservers", most-1)
	if d.rare("too many", most) {
		count = most + 1
	}
	list := make([]string, count)
	for i := range list {
		list[i] = d.word("nameserver", "1.2.3.4", "1.2.3.4:5353", "1.2.3.4:0053", "127.0.0.1:65535", "169.254.20.10",
			"2001:db8::53", "[2001:db8::53]:853", "2001:db8:0:0:0:0:1:5353", "2620:fe::fe:9", "::1", "fe80::1", "::ffff:1.2.3.4", "[::ffff:1.2.3.4]:53")
	}
	return list
}

func (d intents) policy() string { return d.word("policy", "", "Random", "roundrobin", "SEQUENTIAL") }

func (d intents) strategy() string { return d.word("strategy", "", "TCP", "tcp") }

func (d intents) ttl() string {
	return d.word("TTL", "", "0s", "1s", "30s", "1h30m", "0.5h", "596523h", "2147483647s")
}

func (d intents) transport() *intent.TransportConfig {
	if d.coin("plain") {
		return nil
	}
	t := &intent.TransportConfig{Transport: d.word("transport", "TLS", "tls", "Cleartext", "")}
	if !strings.EqualFold(t.Transport, "TLS") {
		return t
	}
	t.TLS = &intent.TransportTLS{ServerName: d.word("server name", "dns.foo.com", "DNS.Foo.com.", "1.2.3.4", "a")}
	if d.coin("bundle") {
		t.TLS.CABundle = &intent.ConfigMapRef{Name: d.word("bundle", "ca", "my.ca-1")}
	}
	return t
}

func (d intents) server(suffix string) intent.DNSServer {
	s := intent.DNSServer{Name: d.word("name", "a", "b-c", "0") + suffix, Zones: []string{d.zone()}}
	for range d.count("zones", 2) {
		s.Zones = append(s.Zones, d.zone())
	}
	s.ForwardPlugin = intent.DNSServerForward{
		Upstreams: d.nameservers(), Policy: d.policy(), TransportConfig: d.transport(), ProtocolStrategy: d.strategy(),
	}
	return s
}

func (d intents) resolvers() *intent.UpstreamResolvers {
	const most = 15
	u := &intent.UpstreamResolvers{Policy: d.policy(), TransportConfig: d.transport(), ProtocolStrategy: d.strategy()}
	for range d.count("resolvers", most) {
		u.Upstreams = append(u.Upstreams, intent.Upstream{
			Type:    d.word("type", "Network", "network"),
			Address: d.word("address", "1.2.3.4", "2001:db8::53", "fd00::1:53"),
			Port:    rapid.SampledFrom([]int{0, 53, 853, 65535}).Draw(d.T, "port"),
		})
	}
	if d.coin("system") {
		u.Upstreams = append(u.Upstreams, intent.Upstream{Type: d.word("type", "SystemResolvConf", "systemResolvConf")})
	}
	return u
}

func (d intents) nodeLocalDNS() *intent.NodeLocalDNS {
	if d.coin("no cache") {
		return nil
	}
	const rarely = 6
	return &intent.NodeLocalDNS{Enabled: !d.rare("disabled", rarely), LocalIP: d.word("local IP", "", "169.254.25.10", "fd00::10", "10.1.2.3", "::ffff:1.2.3.4", "127.0.0.1")}
}

func (d intents) autopath() *intent.Autopath {
	if d.coin("no autopath") {
		return nil
	}
	const most = 3
	a := &intent.Autopath{Mode: intent.AutopathMode(d.word("autopath", "", "edns0", "EDNS0", "static", "Static"))}
	for range d.count("searches", most) {
		a.Searches = append(a.Searches, d.zone())
	}
	mixed := d.rare("what is the other mode's", most*most)
	if a.Static() || mixed {
		for range d.count("namespaces", most) {
			a.Namespaces = append(a.Namespaces, d.word("namespace", "shop", "batch", "0", "kube-public"))
		}
	}
	if !a.Static() || mixed {
		a.Option = rapid.SampledFrom([]int{0, 65001, 65100, 65534, 65535}).Draw(d.T, "option")
		for range d.count("clients", most) {
			a.Clients = append(a.Clients, d.word("client", "0.0.0.0/0", "10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32", "::/0", "::ffff:0:0/96", "10.0.0.1/8"))
		}
	}
	return a
}
