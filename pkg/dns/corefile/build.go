package corefile

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// systemResolvers is the file with the node's own nameservers.
const systemResolvers = "/etc/resolv.conf"

// chaosZone is where CoreDNS tells which pod answers.
const chaosZone = "hostname.bind"

// reverse are the zones of addresses, in which the cluster answers for its own
// and passes on the others.
func reverse() []string { return []string{"in-addr.arpa", "ip6.arpa"} }

// Build writes the whole Corefile of a CoreDNS that Signpost manages. Servers come first,
// those with the longest zones before others. The servers of search domains, the default
// server, and the one that shows which pod answers follow. It fails on values that no
// check should have let through.
func Build(c Config) (string, error) {
	blocks := append(serverBlocks(c), searchBlocks(c)...)
	blocks = append(blocks, defaultBlock(c), block{
		keys:    []string{key(chaosZone, c.port())},
		plugins: []directive{line("chaos")},
	})
	for i := range blocks {
		blocks[i].plugins = append(blocks[i].plugins, expand(c)...)
	}
	return text(blocks)
}

// BuildServers writes the servers alone, for a CoreDNS of somebody else that
// imports them: without metrics and logs, which are its own business.
func BuildServers(c Config) (string, error) {
	var blocks []block
	for _, s := range ordered(c.Servers) {
		blocks = append(blocks, block{
			comment: s.Name, keys: keys(s, c.port()),
			plugins: []directive{line("errors"), forward(s.Forward, s.Forward.targets()), cache(c.Cache)},
		})
	}
	return text(blocks)
}

func serverBlocks(c Config) []block {
	var blocks []block
	for _, s := range ordered(c.Servers) {
		blocks = append(blocks, block{
			comment: s.Name, keys: keys(s, c.port()),
			plugins: []directive{metrics(metricsPort), forward(s.Forward, s.Forward.targets()), line("errors"), log(c.LogLevel), bufsize(), cache(c.Cache)},
		})
	}
	return blocks
}

func defaultBlock(c Config) block {
	zones := append([]string{"kubernetes", c.domain()}, reverse()...)
	return block{
		keys: []string{key(".", c.port())},
		plugins: []directive{
			bufsize(),
			line("errors"),
			log(c.LogLevel),
			line("health").with(line("lameduck", "20s")),
			line("ready"),
			line(zones...).with(line("pods", "insecure"), line(append([]string{"fallthrough"}, reverse()...)...)),
			metrics(metricsPort),
			forward(c.Resolvers.lastResort()),
			cache(c.Cache),
			line("loop"),
			line("reload"),
		},
	}
}

// lastResort is where the default server forwards to, and whom it asks there, a
// file with nameservers among them. The node's own are asked in the order of the
// file, unless told otherwise.
func (r Resolvers) lastResort() (f Forward, targets []string) {
	f, targets = r.Forward, r.targets()
	if len(targets) > 0 && !r.System {
		return f, targets
	}
	f.Policy = cmp.Or(f.Policy, Sequential)
	return f, slices.Insert(targets, min(r.SystemAfter, len(targets)), systemResolvers)
}

func forward(f Forward, targets []string) directive {
	d := line("forward", ".")
	for _, target := range targets {
		d.words = append(d.words, withoutPort(target))
	}
	if f.TLS != nil {
		d = d.with(line("tls_servername", f.TLS.ServerName), tls(*f.TLS))
	}
	switch {
	case f.ForceTCP:
		d = d.with(line("force_tcp"))
	case f.TLS == nil: // and over TCP when the answer was truncated, for every protocol of the client
		d = d.with(line("prefer_udp"))
	}
	return d.with(line("policy", f.Policy.directive()))
}

// withoutPort leaves out the port that the plugin takes anyway.
func withoutPort(target string) string {
	const defaultPort = 53
	if upstream, err := netip.ParseAddrPort(target); err == nil && upstream.Port() == defaultPort {
		return upstream.Addr().String()
	}
	return target
}

func tls(t TLS) directive {
	if t.CAFile == "" {
		return line("tls")
	}
	return line("tls", t.CAFile)
}

// targets are the upstreams as the plugin forward takes them.
func (f Forward) targets() []string {
	var out []string
	for _, upstream := range f.Upstreams {
		target := upstream.String()
		if f.TLS != nil {
			target = "tls://" + target
		}
		out = append(out, target)
	}
	return out
}

// metricsPort is where CoreDNS tells Prometheus how it does.
const metricsPort = 9153

func metrics(port uint16) directive { return line("prometheus", fmt.Sprintf(":%d", port)) }

// bufsize keeps UDP answers below what networks split.
func bufsize() directive { return line("bufsize", "1232") }

func log(l LogLevel) directive {
	return line("log", ".").with(line(append([]string{"class"}, l.classes()...)...))
}

func cache(c Cache) directive {
	positive, negative := cmp.Or(c.Positive, defaultTTL), cmp.Or(c.Negative, defaultDenial)
	entries := strconv.Itoa(cacheEntries)
	return line("cache").with(line("success", entries, seconds(positive)), line("denial", entries, seconds(negative)))
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

func key(zone string, port uint16) string { return fmt.Sprintf("%s:%d", zone, port) }

func keys(s Server, port uint16) []string {
	var all []string
	for _, zone := range slices.Sorted(slices.Values(s.Zones)) {
		all = append(all, key(zone, port))
	}
	return all
}

// ordered puts the servers into the order of their most special zone. CoreDNS uses that
// order too, in any order of the file.
func ordered(servers []Server) []Server {
	deepest := func(s Server) string {
		return slices.MaxFunc(s.Zones, special)
	}
	sorted := slices.Clone(servers)
	slices.SortStableFunc(sorted, func(a, b Server) int { return special(deepest(b), deepest(a)) })
	return sorted
}

// special compares how special two zones are: by their labels, and then in an
// order of no meaning.
func special(a, b string) int {
	if n := strings.Count(a, ".") - strings.Count(b, "."); n != 0 {
		return n
	}
	return strings.Compare(b, a)
}
