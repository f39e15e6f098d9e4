package clusterdns

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	// mostUpstreams is how many CoreDNS forwards to from one place.
	mostUpstreams = 15

	// mostSystem is how many nameservers a node's resolv.conf may have.
	mostSystem = 3

	systemResolvConf = "SystemResolvConf"
	networkUpstream  = "Network"

	// UsualPort is that of DNS.
	UsualPort = 53
)

// checkNameservers checks where a forward goes.
func checkNameservers(r *review.Review, at review.Pointer, list []string) {
	switch {
	case len(list) == 0:
		r.Refusef(at, "is missing or empty; give 1 to %d of IP, IP:port or [IPv6]:port", mostUpstreams)
	case len(list) > mostUpstreams:
		r.Refusef(at, "has %d; CoreDNS takes at most %d: leave some out", len(list), mostUpstreams)
	}
	for i, text := range list {
		if _, err := parseNameserver(text); err != nil {
			r.Refusef(at.Index(i), "%s %s", review.Quote(text), err)
		}
	}
}

// parseNameserver reads IP, IP:port or [IPv6]:port; without a port it is 53.
// The error says what is wrong, and what would be right.
func parseNameserver(text string) (netip.AddrPort, error) {
	address, err := netip.ParseAddr(text)
	nameserver := netip.AddrPortFrom(address, UsualPort)
	if err != nil {
		if nameserver, err = netip.ParseAddrPort(text); err != nil {
			return netip.AddrPort{}, nameserverFault(text)
		}
	}
	if nameserver.Port() == 0 {
		return netip.AddrPort{}, fmt.Errorf("has port 0; give 1 to 65535, or none for %d", UsualPort)
	}
	if split, ok := portInDisguise(text); ok {
		return netip.AddrPort{}, fmt.Errorf("may be an address or %s; write that, or all eight groups of the address", split)
	}
	return nameserver, AddressFault(nameserver.Addr())
}

// AddressFault says why nobody answers at an address, nil when somebody may.
func AddressFault(address netip.Addr) error {
	broadcast := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	switch plain := address.Unmap(); {
	case address.Zone() != "":
		return fmt.Errorf("has an IPv6 zone id, which means something else on each node; leave %%%s out", address.Zone())
	case plain.IsUnspecified(), plain.IsMulticast(), plain == broadcast:
		return errors.New("is not the address of a nameserver; give one such as 192.0.2.53")
	}
	return nil
}

// nameserverFault says why a text is neither an address nor one with a port.
func nameserverFault(text string) error {
	const right = "give IP, IP:port or [IPv6]:port, as in 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353"
	if text == "/etc/resolv.conf" {
		return fmt.Errorf("stands for the node's list of nameservers, which only upstreamResolvers can use; %s", right)
	}
	if _, _, found := strings.Cut(text, "://"); found {
		return fmt.Errorf("has a scheme; %s, and for TLS servers with a transportConfig", right)
	}
	host, port := cutLast(text, ":")
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if address, err := netip.ParseAddr(bare); err == nil && bare != text {
		return fmt.Errorf("has brackets but no port; give %s or [%s]:%d", address, address, UsualPort)
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case err != nil:
		return fmt.Errorf("is not an IP address: the DNS server cannot look up its own nameservers; %s", right)
	case address.Is4() && strings.HasPrefix(host, "["):
		return fmt.Errorf("has brackets, which are for IPv6; give %s:%s", address, port)
	case address.Is6() && !strings.HasPrefix(host, "["):
		return fmt.Errorf("is an IPv6 address and a port without brackets; give [%s]:%s", address, port)
	}
	return fmt.Errorf("has a wrong port; give 1 to 65535, or none for %d", UsualPort)
}

// cutLast is the text before and after the last separator.
func cutLast(text, separator string) (before, after string) {
	at := max(0, strings.LastIndex(text, separator))
	return text[:at], strings.TrimPrefix(text[at:], separator)
}

// portInDisguise tells whether an abbreviated IPv6 address ends in a likely port of DNS,
// and how the address is written with a port. 2001:db8::1:5353 is an address, but is
// hardly meant as one.
func portInDisguise(text string) (split string, ok bool) {
	host, port := cutLast(text, ":")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || !strings.Contains(host, "::") || number != 53 && number != 853 && number < 1024 {
		return "", false
	}
	address, err := netip.ParseAddr(host)
	return fmt.Sprintf("[%s]:%s", host, port), err == nil && address.Is6()
}

// checkPolicy checks the order in which upstreams are tried.
func checkPolicy(r *review.Review, at review.Pointer, text string) {
	checkWord(r, at, text, "policy", "Random", "RoundRobin", "Sequential")
}

// checkProtocol checks whether TCP is used always.
func checkProtocol(r *review.Review, at review.Pointer, text string) {
	checkWord(r, at, text, "protocol strategy", "TCP")
}

// checkTransport checks how upstreams are spoken to and tells whether it is over
// TLS.
func checkTransport(r *review.Review, at review.Pointer, in *intent.TransportConfig) bool {
	if in == nil {
		return false
	}
	if in.TLS != nil && in.TLS.CABundle != nil && in.TLS.CABundle.Name == "" { // as OpenShift's Go client writes none
		in.TLS.CABundle = nil
	}
	checkWord(r, at.Key("transport"), in.Transport, "transport", "Cleartext", "TLS")
	secure, here := strings.EqualFold(in.Transport, "TLS"), at.Key("tls")
	switch {
	case in.TLS != nil && !secure:
		r.Refusef(here, "has no effect without transport TLS; give that, or leave tls out")
	case in.TLS == nil && secure:
		r.Refusef(here, "is missing; give the serverName that the upstreams' certificates are for")
	case secure:
		checkTLS(r, here, in.TLS)
	}
	return secure
}

// checkTLS checks whom to expect, and brings the name into canonical form.
func checkTLS(r *review.Review, at review.Pointer, in *intent.TransportTLS) {
	in.ServerName = strings.ToLower(strings.TrimSuffix(in.ServerName, "."))
	switch {
	case in.ServerName == "":
		r.Refusef(at.Key("serverName"), "is missing; give the name that the upstreams' certificates are for, such as dns.example.com")
	case !review.IsSubdomain(in.ServerName):
		r.Refusef(at.Key("serverName"), "%s is not a server's name; give the one that the upstreams' certificates are for, such as dns.example.com", review.Quote(in.ServerName))
	}
	if in.CABundle != nil && !review.IsSubdomain(in.CABundle.Name) {
		r.Refusef(at.Key("caBundle").Key("name"), "%s is not a name of a ConfigMap; use lower-case letters, digits, '-' and '.'", review.Quote(in.CABundle.Name))
	}
}

// checkUpstreamResolvers checks who gets the names that no server has a zone for.
func checkUpstreamResolvers(r *review.Review, in *intent.UpstreamResolvers) {
	const at = review.Spec + "/upstreamResolvers"
	if in == nil {
		return
	}
	checkPolicy(r, at.Key("policy"), in.Policy)
	checkProtocol(r, at.Key("protocolStrategy"), in.ProtocolStrategy)
	secure := checkTransport(r, at.Key("transportConfig"), in.TransportConfig)
	spellOut(in)
	system, network := 0, 0
	for i, upstream := range in.Upstreams {
		here := at.Key("upstreams").Index(i)
		switch {
		case strings.EqualFold(upstream.Type, systemResolvConf):
			system++
		case strings.EqualFold(upstream.Type, networkUpstream):
			network++
			checkNetworkUpstream(r, here, upstream)
		default:
			checkWord(r, here.Key("type"), upstream.Type, "type of an upstream", systemResolvConf, networkUpstream)
		}
	}
	if secure && (system > 0 || network == 0) {
		r.Refusef(at.Key("transportConfig"), "is TLS, which the node's own resolvers (%s) rarely support; give upstreams of type %s only", systemResolvConf, networkUpstream)
	}
	if most := mostUpstreams - min(system, 1)*mostSystem; network > most {
		r.Refusef(at.Key("upstreams"), "has %d of type %s; CoreDNS takes at most %d nameservers, those of /etc/resolv.conf included: give at most %d",
			network, networkUpstream, mostUpstreams, most)
	}
	once(in) // the last: errors name resolvers by their places
}

// spellOut gives resolvers without a type, as OpenShift's Go client writes them, their
// implied type.
func spellOut(in *intent.UpstreamResolvers) {
	for i := range in.Upstreams {
		switch upstream := &in.Upstreams[i]; {
		case upstream.Type != "":
		case upstream.Address == "":
			upstream.Type = systemResolvConf
		default:
			upstream.Type = networkUpstream
		}
	}
}

// once leaves out the node's own resolvers where they are given again, which OpenShift
// takes.
func once(in *intent.UpstreamResolvers) {
	seen := false
	in.Upstreams = slices.DeleteFunc(in.Upstreams, func(upstream intent.Upstream) bool {
		system := strings.EqualFold(upstream.Type, systemResolvConf)
		again := system && seen
		seen = seen || system
		return again
	})
}

// checkNetworkUpstream checks one resolver that is given by its address.
func checkNetworkUpstream(r *review.Review, at review.Pointer, in intent.Upstream) {
	const highest = 1<<16 - 1
	address, err := netip.ParseAddr(in.Address)
	switch {
	case in.Address == "":
		r.Refusef(at.Key("address"), "is missing; give an IP address such as 192.0.2.53")
	case err != nil:
		r.Refusef(at.Key("address"), "%s is not an IP address; give one such as 192.0.2.53, and the port as port", review.Quote(in.Address))
	default:
		if err := AddressFault(address); err != nil {
			r.Refusef(at.Key("address"), "%s %s", review.Quote(in.Address), err)
		}
	}
	if in.Port < 0 || in.Port > highest {
		r.Refusef(at.Key("port"), "%d is not a port; give 1 to %d, or leave it out for %d", in.Port, highest, UsualPort)
	}
}
