package admit

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// manyUpstreams of an intent are worth a warning: each DNS pod talks to all of
// them, and asks those that fail twice a second.
const manyUpstreams = 50

// oddities collects warnings.
type oddities struct{ list []intent.Warning }

// dnsCRWarnings tells what of a stored intent does not do what it may seem to,
// in stable order. It is never nil.
func dnsCRWarnings(in intent.DNSCRIntent) []intent.Warning {
	w := &oddities{list: []intent.Warning{}}
	w.forwards(in)
	if in.OperatorLogLevel != "" {
		w.warn("operatorLogLevel", "has no effect: no operator runs in the cluster")
	}
	w.nodeCache(in)
	if in.Mode == intent.Import {
		w.imported(in)
	}
	return w.list
}

// nodeCache warns of a cache on each node that is none, or may be in somebody's
// way, and of DNS pods that may not understand it.
func (w *oddities) nodeCache(in intent.DNSCRIntent) {
	switch cache := in.NodeLocalDNS; {
	case cache == nil:
	case !cache.Enabled:
		w.warn("nodeLocalDNS", "has no effect: it is not enabled")
	case cache.LocalIP != "":
		if address, err := netip.ParseAddr(cache.LocalIP); err == nil && !ownRange(address) {
			w.warn("localIP", "is neither in 169.254.0.0/16 nor in fd00::/8: whoever has the address is out of reach from every node")
		}
	}
	if in.Autopath == nil || in.Autopath.Static() {
		return
	}
	if in.Image != "" {
		w.warn("image", "must hold the program signpost-dns of this version: with autopath of mode %s, DNS pods walk search paths that come in an option", intent.AutopathEDNS0)
	}
	if len(in.Autopath.Clients) == 0 {
		w.warn("clients", "are not given, so that a pod may have its own search paths walked, whose answer any other cache between pods and DNS pods keeps under the plain name for everybody; give the networks of the nodes")
	}
}

// ownRange tells whether an address is one that a network may use for itself
// alone.
func ownRange(address netip.Addr) bool {
	const uniqueLocal = 0xfd
	return address.Is4() && address.IsLinkLocalUnicast() || address.Is6() && address.As16()[0] == uniqueLocal
}

// imported warns of what only a CoreDNS of our own can have.
func (w *oddities) imported(in intent.DNSCRIntent) {
	for _, field := range []struct {
		name  string
		given bool
	}{
		{"upstreamResolvers", in.UpstreamResolvers != nil},
		{"logLevel", in.LogLevel != ""},
		{"nodePlacement", in.NodePlacement != nil},
		{"nodeResolver", in.NodeResolver != nil},
		{"image", in.Image != ""},
	} {
		if field.given {
			w.warn(field.name, "has no effect with mode import: it is the business of the CoreDNS that is there")
		}
	}
}

func (w *oddities) warn(parameter, format string, args ...any) {
	warning := intent.Warning{Parameter: parameter, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(w.list, warning) {
		w.list = append(w.list, warning)
	}
}

// forwards warns of what is odd about where an intent forwards to.
func (w *oddities) forwards(in intent.DNSCRIntent) {
	total := 0
	for _, f := range forwardings(in) {
		total += len(f.nameservers)
		w.forward(f)
	}
	if total > manyUpstreams {
		w.warn("nameservers", "are %d in all; each DNS pod talks to all of them, which costs memory, and two health checks a second for each that fails", total)
	}
	if in.UpstreamResolvers == nil {
		return
	}
	for _, upstream := range in.UpstreamResolvers.Upstreams {
		if strings.EqualFold(upstream.Type, systemResolvConf) && (upstream.Address != "" || cmp.Or(upstream.Port, usualPort) != usualPort) {
			w.warn("upstreamResolvers", "have an address or a port for %s, which has no effect: the node's /etc/resolv.conf says whom to ask", systemResolvConf)
		}
	}
}

// forward warns of what is odd about one forward.
func (w *oddities) forward(f forwarding) {
	for _, zone := range f.zones {
		if strings.HasSuffix(zone, "."+intent.DefaultClusterDomain) {
			w.warn(zone, "takes these names away from clusters whose own domain is %s", intent.DefaultClusterDomain)
		}
		if slices.ContainsFunc(hostname.ReverseNetworks(zone), hostname.OfClusters) {
			w.warn(zone, "may hold the names (PTR records) of Services and pods of the clusters, which are no longer answered then; give zones beside the networks of these")
		}
	}
	seen := map[netip.AddrPort]bool{}
	for _, text := range f.nameservers {
		nameserver, err := parseNameserver(text)
		if err != nil {
			continue // stored by another version
		}
		if seen[nameserver] {
			w.warn(text, "is given twice for %s, so that it gets twice its share of the queries", strings.Join(f.zones, ", "))
		}
		if nameserver.Addr().Unmap().IsLoopback() {
			w.warn(text, "is the DNS pod itself, in which no other nameserver listens")
		}
		seen[nameserver] = true
	}
}

// forwarding is where the queries of some zones go.
type forwarding struct{ zones, nameservers []string }

// forwardings are an intent's forwards in both forms.
func forwardings(in intent.DNSCRIntent) []forwarding {
	var all []forwarding
	if in.PluginConfig != nil {
		for _, plugin := range in.PluginConfig.ForwardPlugins {
			all = append(all, forwarding{[]string{plugin.Domain}, plugin.Nameservers})
		}
	}
	for _, server := range in.Servers {
		all = append(all, forwarding{server.Zones, server.ForwardPlugin.Upstreams})
	}
	return all
}
