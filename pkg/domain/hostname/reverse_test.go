package hostname

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReverseNetworks(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string][]string{
		"10.in-addr.arpa":            {"10.0.0.0/8"},
		"0.96.10.in-addr.arpa":       {"10.96.0.0/24"},
		"5.0.96.10.in-addr.arpa":     {"10.96.0.5/32"},
		"0-127.0.96.10.in-addr.arpa": {"10.96.0.0/24"},
		"0.5.0.96.10.in-addr.arpa":   {"10.96.0.5/32"},
		"in-addr.arpa":               {"0.0.0.0/0"},
		"arpa":                       {"0.0.0.0/0", "::/0"},
		"d.f.ip6.arpa":               {"fd00::/8"},
		"8.b.d.0.1.0.0.2.ip6.arpa":   {"2001:db8::/32"},
		"1.8.b.d.0.1.0.0.2.ip6.arpa": {"2001:db8:1000::/36"},
		"foo.com":                    nil,
		"home.arpa":                  nil,
		"notin-addr.arpa":            nil,
		"300.in-addr.arpa":           {"0.0.0.0/0"},
		"10.in-addr.arpa.example":    nil,
		"x.10.in-addr.arpa":          {"10.0.0.0/8"},
	} {
		var got []string
		for _, network := range ReverseNetworks(zone) {
			got = append(got, network.String())
		}
		assert.Equal(t, want, got, zone)
	}
}

func TestNetworksOfClusters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"10.96.0.0/16": true, "0.0.0.0/0": true, "172.0.0.0/8": true, "192.168.7.0/24": true, "100.64.0.0/10": true, "fd00::/8": true,
		"203.0.113.0/24": false, "172.15.0.0/16": false, "2001:db8::/32": false,
	} {
		assert.Equal(t, want, OfClusters(netip.MustParsePrefix(text)), text)
	}
}
