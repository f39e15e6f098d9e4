package hostname

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// The zones below which addresses have their names.
const (
	reverse4 = "in-addr.arpa"
	reverse6 = "ip6.arpa"
)

// ReverseNetworks are the networks whose addresses have their names (PTR records) in
// a zone, which is canonical; none for zones of other names.
func ReverseNetworks(zone string) []netip.Prefix {
	if zone == "arpa" {
		return append(ReverseNetworks(reverse4), ReverseNetworks(reverse6)...)
	}
	for _, family := range []struct {
		root      string
		base, bit int // of a label
		none      netip.Addr
	}{{reverse4, 10, 8, netip.IPv4Unspecified()}, {reverse6, 16, 4, netip.IPv6Unspecified()}} {
		rest, below := strings.CutSuffix("."+zone, "."+family.root)
		if !below {
			continue
		}
		raw, bits := family.none.AsSlice(), 0
		labels := strings.FieldsFunc(rest, func(r rune) bool { return r == '.' })
		for _, label := range slices.Backward(labels) {
			part, err := strconv.ParseUint(label, family.base, family.bit)
			if err != nil || bits == len(raw)*8 {
				break // a part of the network before, as of RFC 2317
			}
			raw[bits/8] |= byte(part) << (8 - family.bit - bits%8)
			bits += family.bit
		}
		address, _ := netip.AddrFromSlice(raw)
		return []netip.Prefix{netip.PrefixFrom(address, bits)}
	}
	return nil
}

// OfClusters tells whether a network may be one of the Services or pods of a cluster:
// whether it has addresses of private or shared ranges.
func OfClusters(network netip.Prefix) bool {
	return slices.ContainsFunc(privateRanges(), network.Overlaps)
}

func privateRanges() []netip.Prefix {
	var ranges []netip.Prefix
	for _, text := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"} {
		ranges = append(ranges, netip.MustParsePrefix(text))
	}
	return ranges
}
