package corefile

import (
	"fmt"
	"slices"
	"strings"
)

// Way is which way a query takes: the server block that gets it, and the plugin
// in it that answers.
type Way struct {
	Server    string   // zone:port
	Plugin    string   // kubernetes or forward
	Upstreams []string // that forward chooses among, in their order; the path of the node's resolv.conf among them
	Policy    string   // of forward, as CoreDNS spells it
	Why       []string // sentences, in the order of the decisions
}

// Follow tells which way a query for a name takes through a CoreDNS of this
// configuration. The name is canonical: lower case, no dot at the end, "." or
// empty for the root.
func Follow(c Config, name string) Way {
	w := &Way{}
	server, zone := match(c, name)
	if server != nil {
		w.Server = key(zone, c.port())
		w.because("%s is the longest zone that %s belongs to", zone, name)
		return w.forwarded(server.Forward, server.Forward.targets())
	}
	w.Server = key(".", c.port())
	w.because("no server has a zone that %s belongs to, so the default server gets it", name)
	if within(name, c.domain()) {
		w.Plugin = "kubernetes"
		w.because("%s is the domain of the cluster, for which the cluster alone answers", c.domain())
		return *w
	}
	if i := slices.IndexFunc(reverse(), func(zone string) bool { return within(name, zone) }); i >= 0 {
		w.because("%s is for addresses: the cluster answers for its own and passes on the others", reverse()[i])
	}
	return w.lastResort(c.Resolvers)
}

func (w *Way) because(format string, values ...any) {
	w.Why = append(w.Why, fmt.Sprintf(format, values...))
}

func (w *Way) lastResort(r Resolvers) Way {
	switch {
	case len(r.Upstreams) == 0:
		w.because("the last resort is the node's own resolvers")
	case r.System:
		w.because("the last resort is the upstream resolvers and the node's own")
	default:
		w.because("the last resort is the upstream resolvers")
	}
	return w.forwarded(r.lastResort())
}

func (w *Way) forwarded(f Forward, targets []string) Way {
	w.Plugin, w.Policy, w.Upstreams = "forward", f.Policy.directive(), targets
	switch {
	case f.TLS != nil:
		w.because("upstreams are asked over TLS as %s", f.TLS.ServerName)
	case f.ForceTCP:
		w.because("upstreams are asked over TCP")
	default:
		w.because("upstreams are asked over UDP, and over TCP when the answer was truncated")
	}
	return *w
}

// match finds the server with the longest zone that the name belongs to.
func match(c Config, name string) (server *Server, zone string) {
	for i := range c.Servers {
		for _, z := range c.Servers[i].Zones {
			if within(name, z) && (server == nil || len(z) > len(zone)) {
				server, zone = &c.Servers[i], z
			}
		}
	}
	return server, zone
}

// within tells whether a name is in a zone.
func within(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}
