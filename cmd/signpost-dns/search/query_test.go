package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

var cluster = search.Domain{Name: "cluster.local", Suffixes: []string{"foo.com", "shop.svc.cluster.local"}}

func TestInZone(t *testing.T) {
	for name, want := range map[string]bool{
		"ap.k8s.io.": true, "AP.K8s.io.": true, "web.search.shop.cluster.local.ap.k8s.io.": true, "x.ap.k8s.io.": true,
		"trap.k8s.io.": false, "k8s.io.": false, ".": false, "ap.k8s.io.example.": false, "web.": false,
	} {
		require.Equal(t, want, search.InZone(query(name)), name)
	}
	require.False(t, search.InZone(&dns.Msg{}))
}

func TestSearchable(t *testing.T) {
	require.True(t, search.Searchable(query("web.")))
	for reason, change := range map[string]func(*dns.Msg){
		"a notification":      func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify },
		"an update":           func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate },
		"another class":       func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS },
		"a zone transfer":     func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAXFR },
		"no question":         func(m *dns.Msg) { m.Question = nil },
		"several of them":     func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) },
		"what is not a query": func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeOPT },
	} {
		m := query("web.")
		change(m)
		require.False(t, search.Searchable(m), reason)
	}
}

func TestSplitOfTheSeedsNames(t *testing.T) {
	own := []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "foo.com"}
	other := []string{"a-b.svc.cluster.local", "svc.cluster.local", "cluster.local", "foo.com", "shop.svc.cluster.local"}
	for _, c := range []struct {
		reason, name, base string
		paths              []string
	}{
		{"a short name", "service123.search.shop.cluster.local.ap.k8s.io.", "service123.", own},
		{"in any letters", "Service123.Search.SHOP.cluster.LOCAL.ap.k8s.io.", "service123.", own},
		{"an outside name", "www.example.com.search.a-b.cluster.local.ap.k8s.io.", "www.example.com.", other},
		{"the search domain", "search.shop.cluster.local.ap.k8s.io.", "", own},
		{"a name with an escaped dot", `a\.b.search.shop.cluster.local.ap.k8s.io.`, `a\.b.`, own},
		{"a name that ends with a backslash", `a\\.search.shop.cluster.local.ap.k8s.io.`, `a\\.`, own},
	} {
		base, paths, ok := cluster.Split(c.name)
		require.True(t, ok, c.reason)
		require.Equal(t, c.base, base, c.reason)
		require.Equal(t, c.paths, paths, c.reason)
	}
	for reason, name := range map[string]string{
		"another cluster's":                  "web.search.shop.cluster.example.ap.k8s.io.",
		"a dot that is none":                 `web\.search.shop.cluster.local.ap.k8s.io.`,
		"a namespace that no cluster has":    "web.search.a*b.cluster.local.ap.k8s.io.",
		"a namespace with a comma":           "web.search.a,b.cluster.local.ap.k8s.io.",
		"a namespace with an escaped dot":    `web.search.a\.b.cluster.local.ap.k8s.io.`,
		"a namespace of bytes":               `web.search.\000.cluster.local.ap.k8s.io.`,
		"no namespace":                       "search.cluster.local.ap.k8s.io.",
		"a dot that is none, in the cluster": `web.search.shop\.cluster.local.ap.k8s.io.`,
	} {
		_, _, ok := cluster.Split(name)
		require.False(t, ok, reason)
	}
}

func TestExists(t *testing.T) {
	for name, want := range map[string]bool{
		"ap.k8s.io.": true, "local.ap.k8s.io.": true, "cluster.local.ap.k8s.io.": true, "Shop.cluster.local.ap.k8s.io.": true,
		"search.shop.cluster.local.ap.k8s.io.": true,
		"web.shop.cluster.local.ap.k8s.io.":    false, "example.ap.k8s.io.": false, "xcluster.local.ap.k8s.io.": false,
		"web.search.shop.cluster.local.ap.k8s.io.": false, "*.cluster.local.ap.k8s.io.": false, `a\.b.cluster.local.ap.k8s.io.`: false,
	} {
		require.Equal(t, want, cluster.Exists(name), name)
	}
}

func TestNamesThatAreTooLongAreLeftOut(t *testing.T) {
	long := strings.Repeat("a.", 118)
	require.Equal(t, []string{long + "svc.cluster.local.", long + "cluster.local.", long}, search.Names(long, autopath.Paths("shop", "cluster.local")))
	require.Equal(t, []string{"web.foo.com.", "web."}, search.Names("web.", []string{"foo.com"}))
}

func TestOption(t *testing.T) {
	q := query("web.search.shop.cluster.local.ap.k8s.io.")
	require.Nil(t, search.OptionOf(q, 65001))

	asked := search.Ask(q, "web.", 65001, []string{"foo.com", "bar.com"})
	require.Equal(t, "web.", asked.Question[0].Name)
	require.Equal(t, "foo.com,bar.com", string(search.OptionOf(asked, 65001).Data))
	require.Nil(t, search.OptionOf(asked, 65002))
	require.Nil(t, q.IsEdns0(), "the query stays as it is")

	again := search.Ask(asked, "web.", 65001, []string{"x.com"})
	require.Len(t, again.IsEdns0().Option, 1)
	require.Equal(t, "x.com", string(search.OptionOf(again, 65001).Data), "a client's own option is not sent on")
	require.Nil(t, search.OptionOf(search.WithoutOption(again, 65001), 65001))
	require.NotNil(t, search.OptionOf(again, 65001))

	q.SetEdns0(4096, true)
	q.IsEdns0().Option = append(q.IsEdns0().Option, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "24a5ac1223344556"})
	asked = search.Ask(q, "web.", 65001, []string{"foo.com"})
	require.Len(t, asked.IsEdns0().Option, 2, "other options are kept")
	require.True(t, asked.IsEdns0().Do())
	require.Equal(t, uint16(4096), asked.IsEdns0().UDPSize())
}

func TestOnlyANumberConfirms(t *testing.T) {
	asked := search.Ask(query("web."), "web.", 65001, []string{"foo.com"})
	reply := new(dns.Msg).SetReply(asked)
	require.False(t, search.Confirmed(reply, 65001))
	search.Confirm(reply, asked, 65001, 2)
	require.True(t, search.Confirmed(reply, 65001))
	require.False(t, search.Confirmed(reply, 65002))
	for _, echo := range []string{"foo.com", "", "0", "-1", "2 "} {
		search.OptionOf(reply, 65001).Data = []byte(echo)
		require.False(t, search.Confirmed(reply, 65001), "a server that sends %q back does not know the option", echo)
	}
}

// What the cluster's DNS answers a node's cache is, to a pod, what it answers a
// pod.
func TestReceivedIsWhatWasSent(t *testing.T) {
	const name = "web.search.shop.cluster.local.ap.k8s.io."
	const first, last = "web.shop.svc.cluster.local.", "web."
	for reason, w := range map[string]world{
		"found by a path":              {first: "60 IN A 10.0.0.1"},
		"found as it is":               {last: "60 IN A 192.0.2.1"},
		"an alias, found as it is":     {last: "60 IN CNAME x.example."},
		"an alias, found by a path":    {"web.foo.com.": "60 IN CNAME x.example."},
		"missing":                      {},
		"no data by a path":            {first: "nodata 9"},
		"no data as it is":             {last: "nodata 9"},
		"the other family's by a path": {"A " + first: "nodata 9", "AAAA " + first: "60 IN AAAA fd00::1"},
		"the other family's as it is":  {"A " + last: "nodata 9", "AAAA " + last: "60 IN AAAA fd00::1"},
		"failed":                       {first: "servfail"},
		"truncated":                    {last: "truncated"},
	} {
		var asked []string
		for _, plain := range []bool{false, true} {
			o := search.Walk(t.Context(), search.Names(last, paths), dns.TypeA, w.lookup(&asked))
			want := o.Answer(query(name), plain)
			sent := o.Answer(search.Ask(query(name), last, 65001, paths), true)
			packed, err := sent.Pack()
			require.NoError(t, err, reason)
			received := new(dns.Msg)
			require.NoError(t, received.Unpack(packed), reason)
			got := search.Received(received, last, paths).Answer(query(name), plain)
			got.Id = want.Id
			requireSame(t, want, got, reason)
		}
	}
}

// requireSame compares answers but for TTLs that a node may not make longer.
func requireSame(t *testing.T, want, got *dns.Msg, reason string) {
	t.Helper()
	require.Equal(t, want.Rcode, got.Rcode, reason)
	require.Equal(t, reason == "truncated", got.Truncated, reason)
	require.Len(t, got.Answer, len(want.Answer), reason)
	for i := range want.Answer {
		require.True(t, dns.IsDuplicate(want.Answer[i], got.Answer[i]), "%s: %v is not %v", reason, got.Answer[i], want.Answer[i])
		require.LessOrEqual(t, got.Answer[i].Header().Ttl, want.Answer[i].Header().Ttl, reason)
	}
	require.Equal(t, fmt.Sprint(want.Ns), fmt.Sprint(got.Ns), reason)
}
