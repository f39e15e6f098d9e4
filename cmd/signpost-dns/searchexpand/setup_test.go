package searchexpand

import (
	"net/netip"
	"testing"

	"github.com/coredns/caddy"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

func TestSetup(t *testing.T) {
	for _, c := range []struct {
		reason, corefile string
		want             SearchExpand
	}{
		{"nothing", "searchexpand", SearchExpand{settings: search.Settings{Option: 65001}}},
		{"everything", "searchexpand Cluster.local {\n option 65002\n suffixes foo.com bar.com\n allow 10.0.0.0/8 fd00::/8\n allow 192.0.2.0/24\n missing nxdomain\n}",
			SearchExpand{
				settings: search.Settings{Option: 65002, AsPlain: true, Domain: search.Domain{Name: "cluster.local", Suffixes: []string{"foo.com", "bar.com"}}},
				allowed:  []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("192.0.2.0/24")},
			}},
	} {
		got, err := parse(caddy.NewTestController("dns", c.corefile))
		require.NoError(t, err, c.reason)
		require.Equal(t, c.want, *got, c.reason)
	}
	for _, c := range []struct{ reason, corefile, want string }{
		{"two domains", "searchexpand a.local b.local", "Wrong argument count"},
		{"no domain's name", "searchexpand a_b?", `"a_b?" is not a domain`},
		{"twice", "searchexpand\nsearchexpand", "once per Server Block"},
		{"an unknown property", "searchexpand {\n upstream\n}", "unknown property 'upstream'"},
		{"an option of others", "searchexpand {\n option 65535\n}", "write a number from 65001 to 65534"},
		{"suffixes without a domain", "searchexpand {\n suffixes foo.com\n}", "write the cluster's domain behind searchexpand"},
		{"no suffixes", "searchexpand a.local {\n suffixes\n}", "Wrong argument count"},
		{"a file", "searchexpand a.local {\n suffixes /etc/resolv.conf\n}", `"/etc/resolv.conf" is not a domain`},
		{"nobody is allowed", "searchexpand {\n allow\n}", "Wrong argument count"},
		{"an address", "searchexpand {\n allow 10.0.0.1\n}", "allow: '10.0.0.1' is not a network: write it as in 10.0.0.0/8 or fd00::/8"},
	} {
		_, err := parse(caddy.NewTestController("dns", c.corefile))
		require.ErrorContains(t, err, c.want, c.reason)
	}
}
