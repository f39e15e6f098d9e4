package throttle

import (
	"net"
	"net/netip"
)

// Origin is where a request comes from: an IPv4 address, or the /64 of an IPv6
// address, which one host has to itself.
func Origin(remote string) string {
	const ownNetwork = 64
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap().WithZone(""); address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(ownNetwork) // which an IPv6 address has
	return network.String()
}
