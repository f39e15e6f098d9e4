package address

import (
	"net/netip"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Reasons for which an address is not published.
const (
	reasonUnspecified = "unspecified address: it names no host"
	reasonLoopback    = "loopback address: it leads every client to itself"
	reasonLinkLocal   = "link-local address: it is reachable on its own network link alone"
	reasonMulticast   = "multicast address: it names no single host"
	reasonBroadcast   = "broadcast address: it names no single host"
	reasonPrivate     = "private address in a public record"
	reasonDenied      = "denied by the record's targetFilter"
	reasonNotAllowed  = "not among the networks that the record's targetFilter allows"
)

// never lists the networks whose addresses name nobody whom a client could
// reach, whatever the scope.
func never() map[netip.Prefix]string {
	return map[netip.Prefix]string{
		netip.MustParsePrefix("0.0.0.0/8"):          reasonUnspecified,
		netip.MustParsePrefix("::/128"):             reasonUnspecified,
		netip.MustParsePrefix("127.0.0.0/8"):        reasonLoopback,
		netip.MustParsePrefix("::1/128"):            reasonLoopback,
		netip.MustParsePrefix("169.254.0.0/16"):     reasonLinkLocal,
		netip.MustParsePrefix("fe80::/10"):          reasonLinkLocal,
		netip.MustParsePrefix("224.0.0.0/4"):        reasonMulticast,
		netip.MustParsePrefix("ff00::/8"):           reasonMulticast,
		netip.MustParsePrefix("255.255.255.255/32"): reasonBroadcast,
	}
}

// private lists the networks that each site uses as its own.
func private() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("100.64.0.0/10"), // shared by carriers and cloud providers
		netip.MustParsePrefix("240.0.0.0/4"),   // reserved; some clouds give it to pods
		netip.MustParsePrefix("fc00::/7"),
		netip.MustParsePrefix("fec0::/10"), // the former site-local addresses
	}
}

// documentation lists the networks that stand for others in examples.
func documentation() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("2001:db8::/32"),
		netip.MustParsePrefix("3fff::/20"),
	}
}

func within(networks []netip.Prefix, ip netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}

// refuse is the reason for which an address is not published, empty when it
// may be. The address is unmapped and has no zone.
func (r *reading) refuse(ip netip.Addr) string {
	for network, reason := range r.never {
		if network.Contains(ip) {
			return reason
		}
	}
	switch {
	case r.rule.Scope == intent.Public && !r.rule.AllowPrivate && within(r.private, ip):
		return reasonPrivate
	case within(r.deny, ip):
		return reasonDenied
	case len(r.rule.Allow) > 0 && !within(r.allow, ip):
		return reasonNotAllowed
	}
	return ""
}
