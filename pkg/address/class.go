package address

import (
	"net/netip"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// never is why an address names nobody whom a client could reach, whatever the
// scope; empty: it may. The address is unmapped and has no zone.
func never(ip netip.Addr) code {
	switch {
	case ip.IsUnspecified() || four(8, 0).Contains(ip):
		return unspecified
	case ip.IsLoopback():
		return loopback
	case ip.IsLinkLocalUnicast():
		return linkLocal
	case ip.IsMulticast():
		return multicast
	case four(32, 255, 255, 255, 255).Contains(ip):
		return broadcast
	}
	return ""
}

// isPrivate tells whether an address is of a network that each site uses as its
// own.
func isPrivate(ip netip.Addr) bool {
	return ip.IsPrivate() ||
		four(10, 100, 64).Contains(ip) || // shared by carriers and cloud providers
		four(4, 240).Contains(ip) || // reserved; some clouds give it to pods
		six(10, 0xfe, 0xc0).Contains(ip) // the former site-local addresses
}

// isDocumentation tells whether an address is of a network that stands for
// others in examples.
func isDocumentation(ip netip.Addr) bool {
	return four(24, 192, 0, 2).Contains(ip) || four(24, 198, 51, 100).Contains(ip) || four(24, 203, 0, 113).Contains(ip) ||
		six(32, 0x20, 0x01, 0x0d, 0xb8).Contains(ip) || six(20, 0x3f, 0xff).Contains(ip)
}

func four(bits int, start ...byte) netip.Prefix {
	var ip [4]byte
	copy(ip[:], start)
	return netip.PrefixFrom(netip.AddrFrom4(ip), bits)
}

func six(bits int, start ...byte) netip.Prefix {
	var ip [16]byte
	copy(ip[:], start)
	return netip.PrefixFrom(netip.AddrFrom16(ip), bits)
}

func within(networks []netip.Prefix, ip netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
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
	case len(f.Rule.Allow) > 0 && !within(f.allow, ip):
		return notAllowed
	}
	return ""
}
