package address

import (
	"net/netip"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// never is why an address names no host that a client could reach, in any scope; empty:
// it may. The address is unmapped and has no zone.
func never(ip netip.Addr) code {
	switch {
	case ip.IsUnspecified() || four{[4]byte{0}, 8}.has(ip):
		return unspecified
	case ip.IsLoopback():
		return loopback
	case ip.IsLinkLocalUnicast():
		return linkLocal
	case ip.IsMulticast():
		return multicast
	case four{[4]byte{255, 255, 255, 255}, 32}.has(ip):
		return broadcast
	}
	return ""
}

// isPrivate tells whether an address is of a network that each site uses as its
// own.
func isPrivate(ip netip.Addr) bool {
	return ip.IsPrivate() ||
		four{[4]byte{100, 64}, 10}.has(ip) || // shared by carriers and cloud providers
		four{[4]byte{240}, 4}.has(ip) || // reserved; some clouds give it to pods
		six{[16]byte{0xfe, 0xc0}, 10}.has(ip) // the former site-local addresses
}

// isDocumentation tells whether an address is of a network that stands for
// others in examples.
func isDocumentation(ip netip.Addr) bool {
	return four{[4]byte{192, 0, 2}, 24}.has(ip) || four{[4]byte{198, 51, 100}, 24}.has(ip) || four{[4]byte{203, 0, 113}, 24}.has(ip) ||
		six{[16]byte{0x20, 0x01, 0x0d, 0xb8}, 32}.has(ip) || six{[16]byte{0x3f, 0xff}, 20}.has(ip)
}

// four is a network of IPv4 addresses: where it starts, and how many bits say so.
type four struct {
	start [4]byte
	bits  int
}

func (n four) has(ip netip.Addr) bool {
	return netip.PrefixFrom(netip.AddrFrom4(n.start), n.bits).Contains(ip)
}

// six is the same of IPv6 addresses.
type six struct {
	start [16]byte
	bits  int
}

func (n six) has(ip netip.Addr) bool {
	return netip.PrefixFrom(netip.AddrFrom16(n.start), n.bits).Contains(ip)
}

func within(networks []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// refuse is why the rule forbids an address, empty when it may be published.
// The address is unmapped and has no zone.
func (f *fold) refuse(ip netip.Addr) code {
	if class := never(ip); class != "" {
		return class
	}
	switch {
	case f.Rule.Scope == intent.Public && !f.Rule.AllowPrivate && isPrivate(ip):
		return private
	case within(f.deny, ip):
		return denied
	case len(f.Rule.Allow) > 0 && !within(f.allow, ip), len(f.Rule.Passed) > 0 && !within(f.passed, ip):
		return notAllowed
	}
	return ""
}
