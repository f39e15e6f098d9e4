package corefile

import (
	"fmt"
	"slices"
	"strings"
)

// Query is what is asked.
type Query struct {
	Name string // canonical: lower case, no dot at the end; "." or empty for the root
	Type string // as in A; only DS makes a difference
}

// Way is which way a query takes: the server block that gets it, and the plugin
// in it that answers.
type Way struct {
	Server    string   `json:"server,omitempty"` // zone:port; empty: not one of ours
	Plugin    string   `json:"plugin,omitempty"` // kubernetes, forward or chaos; of names in search domains searchexpand, autopath or template
	Upstreams []string `json:"upstreams"`        // that forward chooses among, in their order; the path of the node's resolv.conf among them
	Policy    string   `json:"policy,omitempty"` // of forward, as CoreDNS spells it
	Why       []string `json:"why"`              // sentences, in the order of the decisions
}

// Follow tells which way a query takes through a CoreDNS that Build configures.
func Follow(c Config, q Query) Way {
	if w, ok := followSearch(c, q); ok {
		return w
	}
	if w, ok := FollowServers(c, q); ok {
		return w
	}
	w := &Way{}
	if within(q.Name, chaosZone) {
		w.Server, w.Plugin = key(chaosZone, c.port()), "chaos"
		w.because("%s tells which pod answers, in TXT records of class CH alone", chaosZone)
		return *w
	}
	w.Server = key(".", c.port())
	w.because("no server has a zone that %s belongs to, so the default server gets it", q.Name)
	if within(q.Name, c.domain()) {
		w.Plugin = "kubernetes"
		w.because("%s is the domain of the cluster, for which the cluster alone answers", c.domain())
		return *w
	}
	if i := slices.IndexFunc(reverse(), func(zone string) bool { return within(q.Name, zone) }); i >= 0 {
		w.because("%s is for addresses: the cluster answers for its own and passes on the others", reverse()[i])
	}
	return w.lastResort(c.Resolvers)
}

// FollowServers tells which way a query takes through the servers alone, as
// BuildServers writes them; not ok when it goes by them.
func FollowServers(c Config, q Query) (way Way, ok bool) {
	w := &Way{}
	server, zone := match(c, q)
	if server == nil {
		return Way{}, false
	}
	w.Server = key(zone, c.port())
	if q.Type == "DS" {
		w.because("%s is the shortest zone that %s belongs to, and DS is asked for where the parent may be", zone, q.Name)
	} else {
		w.because("%s is the longest zone that %s belongs to", zone, q.Name)
	}
	return w.forwarded(server.Forward, server.Forward.targets()), true
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

// match finds the server with the longest zone that the name belongs to, or for a DS
// query the shortest. CoreDNS does the same, because DS records belong to the parent.
func match(c Config, q Query) (server *Server, zone string) {
	for i := range c.Servers {
		for _, z := range c.Servers[i].Zones {
			if within(q.Name, z) && (server == nil || (len(z) > len(zone)) != (q.Type == "DS")) {
				server, zone = &c.Servers[i], z
			}
		}
	}
	return server, zone
}

func within(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}

// MaxLinted is the size of the largest Corefile that is linted, in bytes.
const MaxLinted = 1 << 20

// Finding is something about a line of a Corefile that somebody wrote.
type Finding struct {
	Line     int      `json:"line"` // from 1; 0: about the whole
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// Severity says whether CoreDNS would start.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // CoreDNS would not start
	Warning Severity = "warning" // it would, or nobody can tell from here
)
