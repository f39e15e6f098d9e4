package admit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/autopath"
	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/intent"
)

const (
	// mostSearches of an intent, and the characters that they have together: so
	// much that the cluster's own search paths and those of its nodes fit into the
	// limits of Kubernetes beside them.
	mostSearches    = 16
	longestSearches = 1024

	// mostNamespaces have servers of their own that fit into one ConfigMap.
	mostNamespaces = 100

	// mostClients is far more networks than nodes are in.
	mostClients = 100
)

// nodeLocalDNS checks the cache on each node. Its address is none of addresses,
// those of the clusters' own DNS services.
func (r *review) nodeLocalDNS(in *intent.DNSCRIntent, addresses map[netip.Addr]string) {
	const at = spec + "/nodeLocalDNS"
	cache, byItself := in.NodeLocalDNS, in.Autopath != nil && !in.Autopath.Static()
	switch {
	case cache == nil && !byItself:
		return
	case cache == nil:
		cache = &intent.NodeLocalDNS{}
	case !cache.Enabled && byItself:
		r.refusef(at.key("enabled"), "is false, but autopath of mode %s needs that cache; give true, leave nodeLocalDNS out, or give mode %s", intent.AutopathEDNS0, intent.AutopathStatic)
	}
	text := cmp.Or(cache.LocalIP, autopath.LocalIP)
	address, err := localIP(text)
	cluster, taken := addresses[address]
	switch {
	case err != nil:
		r.refusef(at.key("localIP"), "%s %s", quote(text), err)
	case slices.Contains(allNameservers(*in), netip.AddrPortFrom(address, usualPort)):
		r.refusef(at.key("localIP"), "%s is a nameserver of the intent, too, so that queries would go in a circle; give another address", address)
	case taken:
		r.refusef(at.key("localIP"), "%s is the address of the DNS service of cluster %s (its dns.address), which would be out of reach from every node; give another address", address, cluster)
	}
}

// allNameservers are those that an intent forwards to; what cannot be read is
// refused elsewhere.
func allNameservers(in intent.DNSCRIntent) []netip.AddrPort {
	var texts []string
	for _, f := range forwardings(in) {
		texts = append(texts, f.nameservers...)
	}
	var all []netip.AddrPort
	for _, text := range texts {
		if nameserver, err := parseNameserver(text); err == nil {
			all = append(all, nameserver)
		}
	}
	if in.UpstreamResolvers != nil {
		for _, upstream := range in.UpstreamResolvers.Upstreams {
			if address, err := netip.ParseAddr(upstream.Address); err == nil {
				all = append(all, netip.AddrPortFrom(address, uint16(cmp.Or(upstream.Port, usualPort)))) //nolint:gosec // judged elsewhere
			}
		}
	}
	return all
}

// localIP reads an address that every node can have for itself. The error says
// what is wrong, and what would be right.
func localIP(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	metadata := [...]byte{169, 254, 169}
	switch {
	case err != nil:
		return address, fmt.Errorf("is no IP address; give one such as %s, without a port", autopath.LocalIP)
	case address.Is4In6():
		return address, fmt.Errorf("is an IPv4 address, written as IPv6; give %s", address.Unmap())
	case address.IsLoopback():
		return address, fmt.Errorf("is each pod's own; give an address such as %s", autopath.LocalIP)
	case address.Is6() && address.IsLinkLocalUnicast():
		return address, errors.New("works with a zone alone, which nameservers of pods cannot have; give one such as fd00::10")
	case address.Is4() && bytes.HasPrefix(address.AsSlice(), metadata[:]):
		return address, fmt.Errorf("is where clouds tell nodes about themselves; give an address such as %s", autopath.LocalIP)
	}
	return address, addressFault(address)
}

// autopath checks how search paths are walked; domains are the clusters' own.
func (r *review) autopath(in *intent.Autopath, domains []clusterDomain) {
	const at = spec + "/autopath"
	if in == nil {
		return
	}
	r.word(at.key("mode"), string(in.Mode), "mode of autopath", string(intent.AutopathEDNS0), string(intent.AutopathStatic))
	for _, d := range domains {
		if withinZone(d.name, autopath.Zone) {
			r.refusef(at, "cannot be had on every cluster: %s is %s, which lies in %s, where search domains are; give that cluster another dns.domain, or leave autopath out", d.name, d.whose, autopath.Zone)
		}
	}
	r.searches(at.key("searches"), in, domains)
	if in.Static() {
		r.searchNamespaces(at.key("namespaces"), in.Namespaces)
		r.onlyInMode(at.key("option"), in.Option != 0, intent.AutopathEDNS0)
		r.onlyInMode(at.key("clients"), len(in.Clients) > 0, intent.AutopathEDNS0)
		return
	}
	r.onlyInMode(at.key("namespaces"), len(in.Namespaces) > 0, intent.AutopathStatic)
	if in.Option != 0 && (in.Option < int(autopath.Option) || in.Option > int(autopath.OptionMax)) {
		r.refusef(at.key("option"), "%d is no code for local use; give %d to %d", in.Option, autopath.Option, autopath.OptionMax)
	}
	r.optionClients(at.key("clients"), in.Clients)
}

// onlyInMode refuses what belongs to the other mode.
func (r *review) onlyInMode(at pointer, given bool, mode intent.AutopathMode) {
	if given {
		r.refusef(at, "belongs to mode %s alone; leave it out", mode)
	}
}

// searches checks the search paths behind the cluster's own, and brings them
// into canonical form.
func (r *review) searches(at pointer, in *intent.Autopath, domains []clusterDomain) {
	if len(in.Searches) > mostSearches {
		r.refusef(at, "has %d; give at most %d", len(in.Searches), mostSearches)
		return
	}
	for i, text := range in.Searches {
		name, err := hostname.Zone(text)
		if err != nil {
			r.refusef(at.index(i), "%s %s", quote(text), err)
			continue
		}
		in.Searches[i] = name
		switch {
		case withinZone(name, autopath.Zone):
			r.refusef(at.index(i), "%s lies in %s, so that search paths would lead to search paths; give another domain", quote(text), autopath.Zone)
		case slices.ContainsFunc(domains, func(d clusterDomain) bool { return name == d.name || name == "svc."+d.name }):
			r.refusef(at.index(i), "%s is a search path of every pod; leave it out", quote(text))
		case slices.Contains(in.Searches[:i], name):
			r.refusef(at.index(i), "%s is given twice; leave one out", quote(text))
		}
	}
	if length := len(strings.Join(in.Searches, " ")); length > longestSearches {
		r.refusef(at, "has %d characters; give at most %d, with one between any two", length, longestSearches)
	}
}

// searchNamespaces checks whose search paths stock CoreDNS walks.
func (r *review) searchNamespaces(at pointer, namespaces []string) {
	if len(namespaces) > mostNamespaces {
		r.refusef(at, "has %d; give at most %d, or choose mode %s, which is for all", len(namespaces), mostNamespaces, intent.AutopathEDNS0)
		return
	}
	for i, namespace := range namespaces {
		switch {
		case !isDNSLabel(namespace):
			r.refusef(at.index(i), "%s is no namespace; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", quote(namespace))
		case slices.Contains(namespaces[:i], namespace):
			r.refusef(at.index(i), "%s is given twice; leave one out", quote(namespace))
		}
	}
}

// optionClients checks who may send the option.
func (r *review) optionClients(at pointer, clients []string) {
	if len(clients) > mostClients {
		r.refusef(at, "has %d; give at most %d", len(clients), mostClients)
		return
	}
	seen := map[netip.Prefix]bool{}
	for i, text := range clients {
		prefix, err := parseClients(text)
		switch {
		case err != nil:
			r.refusef(at.index(i), "%s %s", quote(text), err)
		case seen[prefix]:
			r.refusef(at.index(i), "%s is given twice; leave one out", quote(text))
		}
		seen[prefix] = true
	}
}

// parseClients reads a CIDR. The error says what is wrong, and what would be
// right.
func parseClients(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.Prefix{}, fmt.Errorf("has no length; give %s for it alone", netip.PrefixFrom(address, address.BitLen()))
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, errors.New("is no CIDR; give one such as 192.0.2.0/24 or 2001:db8::/32")
	case prefix != prefix.Masked():
		return netip.Prefix{}, fmt.Errorf("has bits behind its prefix; give %s", prefix.Masked())
	}
	return prefix, nil
}
