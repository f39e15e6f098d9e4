package guard

import "net/netip"

// special says what an address is that is not public; empty: it is public.
func special(address netip.Addr) string {
	switch {
	case !address.IsValid():
		return "no address"
	case address.IsUnspecified():
		return "the unspecified address"
	case address.IsLoopback():
		return "a loopback address"
	case neverByWideRule(address):
		return "a link-local or metadata address"
	case address.IsPrivate():
		return "a private address"
	case address.IsMulticast():
		return "a multicast address"
	}
	for _, network := range notPublic() {
		if network.Contains(address) {
			return "not a public address"
		}
	}
	if inner, ok := embedded(address); ok && special(inner) != "" {
		return "not a public address"
	}
	return ""
}

// neverByWideRule tells whether an address is one where clouds keep their metadata. A rule
// has to name such an address, and no network around it.
func neverByWideRule(address netip.Addr) bool {
	azure := netip.AddrFrom4([4]byte{168, 63, 129, 16})
	alibaba := netip.AddrFrom4([4]byte{100, 100, 100, 200})
	oracle := netip.AddrFrom4([4]byte{192, 0, 0, 192})
	amazon := netip.MustParseAddr("fd00:ec2::254")
	inner, mapped := embedded(address)
	return address.IsLinkLocalUnicast() || address == azure || address == alibaba || address == oracle || address == amazon ||
		mapped && neverByWideRule(inner)
}

// notPublic are the networks of the registries of special purposes that the methods of
// netip.Addr do not know.
func notPublic() []netip.Prefix {
	var networks []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "64:ff9b:1::/48", "fec0::/10", "::/96",
	} {
		networks = append(networks, netip.MustParsePrefix(text))
	}
	return networks
}

// embedded is the IPv4 address that a router reaches by an IPv6 address of NAT64 or 6to4.
func embedded(address netip.Addr) (netip.Addr, bool) {
	bytes := address.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(address):
		return netip.AddrFrom4([4]byte(bytes[12:16])), true
	case netip.MustParsePrefix("2002::/16").Contains(address):
		return netip.AddrFrom4([4]byte(bytes[2:6])), true
	}
	return netip.Addr{}, false
}
