package verify

import "net/netip"

// Local tells whether an address reaches the machine itself or its link, or no single
// machine at all. It also looks through gateways that make an IPv4 address of it.
func Local(address netip.Addr) bool {
	address = address.Unmap()
	if address.IsLoopback() || address.IsUnspecified() || address.IsMulticast() || address.IsLinkLocalUnicast() {
		return true
	}
	if address.Is4() {
		return address.As4()[0] == 0 // 0.0.0.0/8 is the machine itself
	}
	within, is := embedded(address)
	return is && Local(within)
}

// embedded is the IPv4 address that an IPv6 address leads to. It does by NAT64 with the
// well-known or local-use prefix, by 6to4, or as an IPv4-compatible address.
func embedded(address netip.Addr) (within netip.Addr, is bool) {
	octets := address.As16()
	for _, form := range []struct {
		prefix string
		from   int
	}{{"64:ff9b::/96", 12}, {"64:ff9b:1::/48", 12}, {"2002::/16", 2}, {"::/96", 12}} {
		if netip.MustParsePrefix(form.prefix).Contains(address) {
			return netip.AddrFrom4([4]byte(octets[form.from : form.from+4])), true
		}
	}
	return netip.Addr{}, false
}
