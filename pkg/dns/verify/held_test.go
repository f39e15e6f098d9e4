package verify

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// TestHeldTellsWhatANameHasAndWhoseItIs: by marks of all forms, with the affixes
// of the record that asks or with none.
func TestHeldTellsWhatANameHasAndWhoseItIs(t *testing.T) {
	t.Parallel()
	const mark = ` 60 IN TXT "heritage=external-dns,external-dns/owner=corp,external-dns/resource=service/a/b"`
	affixed := externaldns.InDNS{Owner: "mine", Prefix: "x-", Suffix: "-y"}
	for name, c := range map[string]struct {
		zone  []string
		marks externaldns.InDNS
		want  Holding
	}{
		"free":                   {},
		"free, of a zone":        {zone: []string{"lab.example. 900 IN SOA ns hostmaster 1 2 3 4 300"}, want: Holding{AbsentFor: 5 * time.Minute}},
		"no address, of a zone":  {zone: []string{"lab.example. 60 IN SOA ns hostmaster 1 2 3 4 300", `www.lab.example. 60 IN TXT "v=spf1"`}, want: Holding{AbsentFor: time.Minute}},
		"nobody's":               {zone: []string{"www.lab.example. 60 IN A 192.0.2.1"}, want: Holding{Types: []string{"A"}}},
		"both families":          {zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "www.lab.example. 60 IN AAAA 2001:db8::1"}, want: Holding{Types: []string{"A", "AAAA"}}},
		"an alias":               {zone: []string{"www.lab.example. 60 IN CNAME elsewhere.example."}, want: Holding{Types: []string{"CNAME"}}},
		"with the type":          {zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "a-www.lab.example." + mark}, want: Holding{Types: []string{"A"}, Owner: "corp"}},
		"of an alias":            {zone: []string{"www.lab.example. 60 IN CNAME elsewhere.example.", "cname-www.lab.example." + mark}, want: Holding{Types: []string{"CNAME"}, Owner: "corp"}},
		"without, as of old":     {zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "www.lab.example." + mark}, want: Holding{Types: []string{"A"}, Owner: "corp"}},
		"with our affixes":       {marks: affixed, zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "x-a-www-y.lab.example." + mark}, want: Holding{Types: []string{"A"}, Owner: "corp"}},
		"with our affixes, old":  {marks: affixed, zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "x-www-y.lab.example." + mark}, want: Holding{Types: []string{"A"}, Owner: "corp"}},
		"without any":            {marks: affixed, zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "a-www.lab.example." + mark}, want: Holding{Types: []string{"A"}, Owner: "corp", Elsewhere: true}},
		"an alias of Route 53's": {marks: externaldns.InDNS{Aliases: true}, zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "cname-www.lab.example." + mark}, want: Holding{Types: []string{"A"}, Owner: "corp"}},
		"the type in the prefix": {marks: externaldns.InDNS{Prefix: "%{record_type}-of-"}, zone: []string{"www.lab.example. 60 IN A 192.0.2.1", "a-of-www.lab.example." + mark}, want: Holding{Types: []string{"A"}, Owner: "corp"}},
		"another text":           {zone: []string{"www.lab.example. 60 IN A 192.0.2.1", `a-www.lab.example. 60 IN TXT "v=spf1"`}, want: Holding{Types: []string{"A"}}},
	} {
		server := serve(t, c.zone...)
		held, err := New(Options{AllowLocal: true}).Held(t.Context(), "www.lab.example", c.marks, []netip.AddrPort{server.address})
		require.NoError(t, err, name)
		require.Equal(t, c.want, held, name)
	}
}

// TestHeldAsksTheNextServer where one does not speak for the zone, and does not
// guess where none does.
func TestHeldAsksTheNextServer(t *testing.T) {
	t.Parallel()
	lame, good := serve(t), serve(t, "www.lab.example. 60 IN A 192.0.2.1")
	lame.set(func() { lame.lame = true })
	v := New(Options{AllowLocal: true, Resolvers: func() []netip.AddrPort { return nil }})
	held, err := v.Held(t.Context(), "www.lab.example", externaldns.InDNS{}, []netip.AddrPort{lame.address, good.address})
	require.NoError(t, err)
	require.Equal(t, Holding{Types: []string{"A"}}, held)
	_, err = v.Held(t.Context(), "www.lab.example", externaldns.InDNS{}, []netip.AddrPort{lame.address})
	require.ErrorContains(t, err, "does not speak for www.lab.example")
	_, err = v.Held(t.Context(), "www.lab.example", externaldns.InDNS{}, nil)
	require.ErrorContains(t, err, "this machine has no resolver")
	_, err = New(Options{}).Held(t.Context(), "www.lab.example", externaldns.InDNS{}, []netip.AddrPort{good.address})
	require.Error(t, err, "the machine itself is not asked")
}
