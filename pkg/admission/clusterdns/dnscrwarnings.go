package clusterdns

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// manyUpstreams of an intent are worth a warning: each DNS pod talks to all of
// them, and asks those that fail twice a second.
const manyUpstreams = 50

// dnsCRWarnings tells what of a stored intent does not do what it may seem to,
// in stable order. It is never nil.
func dnsCRWarnings(in intent.DNSCRIntent) []intent.Warning {
	w := &review.Oddities{List: []intent.Warning{}}
	warnOfForwards(w, in)
	if in.OperatorLogLevel != "" {
		w.Warn("operatorLogLevel", "has no effect, because no operator runs in the cluster")
	}
	warnOfNodeCache(w, in)
	if in.Mode == intent.Import {
		warnOfImports(w, in)
	}
	return w.List
}

// warnOfNodeCache warns of a cache on each node that is disabled, or may hide an address,
// and of DNS pods that may not understand it.
func warnOfNodeCache(w *review.Oddities, in intent.DNSCRIntent) {
	switch cache := in.NodeLocalDNS; {
	case cache == nil:
	case !cache.Enabled:
		w.Warn("nodeLocalDNS", "has no effect, because nodeLocalDNS is not enabled")
	case cache.LocalIP != "":
		if address, err := netip.ParseAddr(cache.LocalIP); err == nil && !ownRange(address) {
			w.Warn("localIP", "is neither in 169.254.0.0/16 nor in fd00::/8: no node could reach the owner of this address")
		}
	}
	if in.Autopath == nil || in.Autopath.Static() {
		return
	}
	if in.Image != "" {
		w.Warn("image", "must hold the program signpost-dns of this version, because with autopath of mode %s DNS pods walk search paths that come in an option", intent.AutopathEDNS0)
	}
	if len(in.Autopath.Clients) == 0 {
		w.Warn("clients", "are missing: a pod may then have its own search paths walked, and other caches before the DNS pods would keep the answers for everybody; give the networks of the nodes")
	}
}

// ownRange tells whether an address is one that a network may use for itself
// alone.
func ownRange(address netip.Addr) bool {
	const uniqueLocal = 0xfd
	return address.Is4() && address.IsLinkLocalUnicast() || address.Is6() && address.As16()[0] == uniqueLocal
}

// warnOfImports warns of what only a CoreDNS of our own can have.
func warnOfImports(w *review.Oddities, in intent.DNSCRIntent) {
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
			w.Warn(field.name, "has no effect with mode import, because Signpost does not manage that CoreDNS")
		}
	}
}

// warnOfForwards warns of what is odd about where an intent forwards to.
func warnOfForwards(w *review.Oddities, in intent.DNSCRIntent) {
	total := 0
	for _, f := range forwardings(in) {
		total += len(f.nameservers)
		warnOfForward(w, f)
	}
	if total > manyUpstreams {
		w.Warn("nameservers", "are %d in all; each DNS pod talks to all of them, which costs memory, and two health checks a second for each one that fails", total)
	}
	if in.UpstreamResolvers == nil {
		return
	}
	for _, upstream := range in.UpstreamResolvers.Upstreams {
		if strings.EqualFold(upstream.Type, systemResolvConf) && (upstream.Address != "" || cmp.Or(upstream.Port, UsualPort) != UsualPort) {
			w.Warn("upstreamResolvers", "have an address or a port for %s, which has no effect: the nameservers come from the node's /etc/resolv.conf", systemResolvConf)
		}
	}
}

// warnOfForward warns of what is odd about one forward.
func warnOfForward(w *review.Oddities, f forwarding) {
	for _, zone := range f.zones {
		if strings.HasSuffix(zone, "."+intent.DefaultClusterDomain) {
			w.Warn(zone, "hides these names from clusters whose own domain is %s", intent.DefaultClusterDomain)
		}
		if slices.ContainsFunc(hostname.ReverseNetworks(zone), hostname.OfClusters) {
			w.Warn(zone, "may hold the names (PTR records) of Services and pods of the clusters, which are not answered then; give zones outside these networks")
		}
	}
	seen := map[netip.AddrPort]bool{}
	for _, text := range f.nameservers {
		nameserver, err := parseNameserver(text)
		if err != nil {
			continue // stored by another version
		}
		if seen[nameserver] {
			w.Warn(text, "is given twice for %s, so that it gets two shares of the queries", strings.Join(f.zones, ", "))
		}
		if nameserver.Addr().Unmap().IsLoopback() {
			w.Warn(text, "is the DNS pod itself, where no other nameserver listens")
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
