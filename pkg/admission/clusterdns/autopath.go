package clusterdns

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	// mostSearches limits the searches of an intent, and longestSearches their total
	// length. The cluster's own search paths and those of its nodes fit into the limits
	// of Kubernetes beside them.
	mostSearches    = 16
	longestSearches = 1024

	// mostNamespaces have servers of their own that fit into one ConfigMap.
	mostNamespaces = 100

	// mostClients is far more networks than nodes are in.
	mostClients = 100
)

// checkNodeLocalDNS checks the cache on each node. Its address is none of addresses,
// those of the clusters' own DNS services.
func checkNodeLocalDNS(r *review.Review, in *intent.DNSCRIntent, addresses map[netip.Addr]string) {
	const at = review.Spec + "/nodeLocalDNS"
	cache, byItself := in.NodeLocalDNS, in.Autopath != nil && !in.Autopath.Static()
	switch {
	case cache == nil && !byItself:
		return
	case cache == nil:
		cache = &intent.NodeLocalDNS{}
	case !cache.Enabled && byItself:
		r.Refusef(at.Key("enabled"), "is false, but autopath of mode %s needs that cache; set it to true, remove nodeLocalDNS, or use mode %s", intent.AutopathEDNS0, intent.AutopathStatic)
	}
	text := cmp.Or(cache.LocalIP, autopath.LocalIP)
	address, err := LocalIP(text)
	cluster, taken := addresses[address]
	switch {
	case err != nil:
		r.Refusef(at.Key("localIP"), "%s %s", review.Quote(text), err)
	case slices.Contains(allNameservers(*in), netip.AddrPortFrom(address, UsualPort)):
		r.Refusef(at.Key("localIP"), "%s is also a nameserver of the intent, so that queries would go in a circle; give another address", address)
	case taken:
		r.Refusef(at.Key("localIP"), "%s is the address of the DNS service of cluster %s (its dns.address), which no node could reach then; give another address", address, cluster)
	}
}

// allNameservers are the nameservers that an intent forwards to. Other checks refuse
// values that cannot be read.
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
				all = append(all, netip.AddrPortFrom(address, uint16(cmp.Or(upstream.Port, UsualPort)))) //nolint:gosec // judged elsewhere
			}
		}
	}
	return all
}

// LocalIP reads an address that every node can have for itself. The error says
// what is wrong, and what would be right.
func LocalIP(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	metadata := [...]byte{169, 254, 169}
	switch {
	case err != nil:
		return address, fmt.Errorf("is not an IP address; give one such as %s, without a port", autopath.LocalIP)
	case address.Is4In6():
		return address, fmt.Errorf("is an IPv4 address, written as IPv6; give %s", address.Unmap())
	case address.IsLoopback():
		return address, fmt.Errorf("is a loopback address, which each pod has for itself; give an address such as %s", autopath.LocalIP)
	case address.Is6() && address.IsLinkLocalUnicast():
		return address, errors.New("works only with a zone, which nameservers of pods cannot have; give one such as fd00::10")
	case address.Is4() && bytes.HasPrefix(address.AsSlice(), metadata[:]):
		return address, fmt.Errorf("is where clouds tell nodes about themselves; give an address such as %s", autopath.LocalIP)
	}
	return address, AddressFault(address)
}

// checkAutopath checks how search paths are walked; domains are the clusters' own.
func checkAutopath(r *review.Review, in *intent.Autopath, domains []clusterDomain) {
	const at = review.Spec + "/autopath"
	if in == nil {
		return
	}
	checkWord(r, at.Key("mode"), string(in.Mode), "mode of autopath", string(intent.AutopathEDNS0), string(intent.AutopathStatic))
	for _, d := range domains {
		if withinZone(d.name, autopath.Zone) {
			r.Refusef(at, "cannot work on every cluster: %s is %s, which lies in %s, the zone of search domains; give that cluster another dns.domain, or remove autopath", d.name, d.whose, autopath.Zone)
		}
	}
	checkSearches(r, at.Key("searches"), in, domains)
	if in.Static() {
		checkSearchNamespaces(r, at.Key("namespaces"), in.Namespaces)
		checkOnlyInMode(r, at.Key("option"), in.Option != 0, intent.AutopathEDNS0)
		checkOnlyInMode(r, at.Key("clients"), len(in.Clients) > 0, intent.AutopathEDNS0)
		return
	}
	checkOnlyInMode(r, at.Key("namespaces"), len(in.Namespaces) > 0, intent.AutopathStatic)
	if in.Option != 0 && (in.Option < int(autopath.Option) || in.Option > int(autopath.OptionMax)) {
		r.Refusef(at.Key("option"), "%d is not a code for local use; give %d to %d", in.Option, autopath.Option, autopath.OptionMax)
	}
	checkOptionClients(r, at.Key("clients"), in.Clients)
}

// checkOnlyInMode refuses what belongs to the other mode.
func checkOnlyInMode(r *review.Review, at review.Pointer, given bool, mode intent.AutopathMode) {
	if given {
		r.Refusef(at, "belongs only to mode %s; remove it", mode)
	}
}

// checkSearches checks the search paths behind the cluster's own, and brings them
// into canonical form.
func checkSearches(r *review.Review, at review.Pointer, in *intent.Autopath, domains []clusterDomain) {
	if len(in.Searches) > mostSearches {
		r.Refusef(at, "has %d; give at most %d", len(in.Searches), mostSearches)
		return
	}
	for i, text := range in.Searches {
		name, err := hostname.Zone(text)
		if err != nil {
			r.Refusef(at.Index(i), "%s %s", review.Quote(text), err)
			continue
		}
		in.Searches[i] = name
		switch {
		case withinZone(name, autopath.Zone):
			r.Refusef(at.Index(i), "%s lies in %s, where search paths would lead to search paths; give another domain", review.Quote(text), autopath.Zone)
		case slices.ContainsFunc(domains, func(d clusterDomain) bool { return name == d.name || name == "svc."+d.name }):
			r.Refusef(at.Index(i), "%s is a search path of every pod; leave it out", review.Quote(text))
		case slices.Contains(in.Searches[:i], name):
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(text))
		}
	}
	if length := len(strings.Join(in.Searches, " ")); length > longestSearches {
		r.Refusef(at, "has %d characters; give at most %d, with one between any two", length, longestSearches)
	}
}

// checkSearchNamespaces checks whose search paths stock CoreDNS walks.
func checkSearchNamespaces(r *review.Review, at review.Pointer, namespaces []string) {
	if len(namespaces) > mostNamespaces {
		r.Refusef(at, "has %d; give at most %d, or use mode %s, which serves all namespaces", len(namespaces), mostNamespaces, intent.AutopathEDNS0)
		return
	}
	for i, namespace := range namespaces {
		switch {
		case !review.IsDNSLabel(namespace):
			r.Refusef(at.Index(i), "%s is not a namespace; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", review.Quote(namespace))
		case slices.Contains(namespaces[:i], namespace):
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(namespace))
		}
	}
}

// checkOptionClients checks who may send the option.
func checkOptionClients(r *review.Review, at review.Pointer, clients []string) {
	if len(clients) > mostClients {
		r.Refusef(at, "has %d; give at most %d", len(clients), mostClients)
		return
	}
	seen := map[netip.Prefix]bool{}
	for i, text := range clients {
		prefix, err := parseClients(text)
		switch {
		case err != nil:
			r.Refusef(at.Index(i), "%s %s", review.Quote(text), err)
		case seen[prefix]:
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(text))
		}
		seen[prefix] = true
	}
}

// parseClients reads a CIDR. The error says what is wrong, and what would be
// right.
func parseClients(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.Prefix{}, fmt.Errorf("has no prefix length; for this address alone, give %s", netip.PrefixFrom(address, address.BitLen()))
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, errors.New("is not a CIDR; give one such as 192.0.2.0/24 or 2001:db8::/32")
	case prefix != prefix.Masked():
		return netip.Prefix{}, fmt.Errorf("has bits set after its prefix; give %s", prefix.Masked())
	}
	return prefix, nil
}
