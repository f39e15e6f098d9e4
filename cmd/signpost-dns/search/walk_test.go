package search_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// world is what some DNS says of names: records in a zone's form, "nxdomain"
// with or without seconds, "nodata" or "servfail" by name and type.
type world map[string]string

// lookup is a search.Lookup; it notes the names.
func (w world) lookup(asked *[]string) search.Lookup {
	return func(_ context.Context, name string, qtype uint16) *dns.Msg {
		*asked = append(*asked, dns.TypeToString[qtype]+" "+name)
		text, ok := w[dns.TypeToString[qtype]+" "+name]
		if !ok {
			text, ok = w[name]
		}
		if !ok {
			text = "nxdomain"
		}
		return answer(name, qtype, text)
	}
}

// answer is a reply of a server.
func answer(name string, qtype uint16, text string) *dns.Msg {
	m := new(dns.Msg).SetReply(new(dns.Msg).SetQuestion(name, qtype))
	word, seconds, _ := strings.Cut(text, " ")
	soa := "test. 30 IN SOA ns.test. h.test. 1 2 3 4 30"
	if seconds != "" {
		soa = strings.ReplaceAll(soa, "30", seconds)
	}
	switch word {
	case "timeout":
		return nil
	case "servfail":
		m.Rcode = dns.RcodeServerFailure
	case "refused":
		m.Rcode = dns.RcodeRefused
	case "truncated":
		m.Truncated = true
	case "nxdomain":
		m.Rcode, m.Ns = dns.RcodeNameError, []dns.RR{record(soa)}
	case "silent": // an NXDOMAIN without a SOA
		m.Rcode = dns.RcodeNameError
	case "nodata":
		m.Ns = []dns.RR{record(soa)}
	default:
		for _, line := range strings.Split(text, "\n") {
			m.Answer = append(m.Answer, record(name+" "+line))
		}
	}
	return m
}

func record(text string) dns.RR {
	rr, err := dns.NewRR(text)
	if err != nil {
		panic(err)
	}
	return rr
}

// paths are those of a pod in the namespace shop.
var paths = []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "foo.com"}

func TestWalkLooksUpAsGlibcDoes(t *testing.T) {
	const first, second, last = "web.shop.svc.cluster.local.", "web.svc.cluster.local.", "web."
	all := []string{"A " + first, "A " + second, "A web.cluster.local.", "A web.foo.com.", "A " + last}
	for _, c := range []struct {
		reason string
		world  world
		qtype  uint16
		result search.Result
		name   string
		asked  []string // nil for all of them
	}{
		{"the first path has it", world{first: "60 IN A 10.0.0.1"}, dns.TypeA, search.Found, first, all[:1]},
		{"NXDOMAIN goes on", world{second: "60 IN A 10.0.0.1"}, dns.TypeA, search.Found, second, all[:2]},
		{"at last it is looked up as it is", world{last: "60 IN A 192.0.2.1"}, dns.TypeA, search.Found, last, nil},
		{"nothing", world{}, dns.TypeA, search.Missing, last, nil},
		{"SERVFAIL goes on", world{first: "servfail", last: "60 IN A 192.0.2.1"}, dns.TypeA, search.Found, last,
			slices.Insert(slices.Clone(all), 1, "AAAA "+first)},
		{"nobody answers, and it goes on", world{first: "timeout", second: "60 IN A 10.0.0.1"}, dns.TypeA, search.Found, second, all[:2]},
		{"REFUSED is a failure too", world{"A " + first: "refused", "AAAA " + first: "refused"}, dns.TypeA, search.Failed, first,
			slices.Insert(slices.Clone(all), 1, "AAAA "+first)},
		{"no data goes on", world{first: "nodata", second: "60 IN A 10.0.0.1"}, dns.TypeA, search.Found, second,
			[]string{all[0], "AAAA " + first, all[1]}},
		{"no data is told if nothing is found", world{second: "nodata"}, dns.TypeA, search.NoData, second,
			slices.Insert(slices.Clone(all), 2, "AAAA "+second)},
		{"no data rather than a failure", world{first: "servfail", second: "nodata"}, dns.TypeA, search.NoData, second,
			slices.Insert(slices.Insert(slices.Clone(all), 1, "AAAA "+first), 3, "AAAA "+second)},
		{"addresses of the other family are the end", world{"A " + first: "nodata", "AAAA " + first: "60 IN AAAA fd00::1", last: "60 IN A 192.0.2.1"},
			dns.TypeA, search.NoData, first, []string{all[0], "AAAA " + first}},
		{"the other way round", world{"AAAA " + first: "nodata", "A " + first: "60 IN A 10.0.0.1"},
			dns.TypeAAAA, search.NoData, first, []string{"AAAA " + first, "A " + first}},
		{"a failure beside them", world{"A " + first: "servfail", "AAAA " + first: "60 IN AAAA fd00::1", last: "60 IN A 192.0.2.1"},
			dns.TypeA, search.Failed, first, []string{all[0], "AAAA " + first}},
		{"other types have no other family", world{"TXT " + first: "nodata", "A " + first: "60 IN A 10.0.0.1", "TXT " + second: "60 IN TXT b"},
			dns.TypeTXT, search.Found, second, []string{"TXT " + first, "TXT " + second}},
		{"an alias to nowhere is found", world{first: "60 IN CNAME gone.example."}, dns.TypeA, search.Found, first, all[:1]},
		{"what did not fit is found", world{first: "truncated"}, dns.TypeA, search.Found, first, all[:1]},
	} {
		var asked []string
		o := search.Walk(t.Context(), search.Names("web.", paths), c.qtype, c.world.lookup(&asked))
		require.Equal(t, c.result, o.Result, c.reason)
		require.Equal(t, c.name, o.Name, c.reason)
		if c.asked == nil {
			c.asked = all
		}
		require.Equal(t, c.asked, asked, c.reason)
		require.Equal(t, len(asked), o.Lookups, c.reason)
		require.Equal(t, c.result == search.Failed, o.Reply == nil, c.reason)
	}
}

// Neither cache may keep an answer that a new name would shadow.
func TestWalkIsGoodForAsLongAsWhatItPassedOver(t *testing.T) {
	const first, second, last = "web.shop.svc.cluster.local.", "web.svc.cluster.local.", "web."
	for _, c := range []struct {
		reason string
		world  world
		want   uint32
	}{
		{"found at once", world{first: "60 IN A 10.0.0.1"}, 60},
		{"the shortest NXDOMAIN", world{first: "nxdomain 9", second: "nxdomain 7", last: "60 IN A 192.0.2.1"}, 7},
		{"the records, if they are shorter", world{first: "nxdomain 9", last: "3 IN A 192.0.2.1"}, 3},
		{"the shortest NODATA", world{first: "nodata 8", last: "60 IN A 192.0.2.1"}, 8},
		{"a failure counts for five seconds", world{first: "servfail", last: "60 IN A 192.0.2.1"}, 5},
		{"as does an NXDOMAIN that does not say", world{first: "silent", last: "60 IN A 192.0.2.1"}, 5},
		{"nothing found", world{first: "nxdomain 9", last: "nxdomain 20"}, 9},
		{"no data", world{first: "nxdomain 6", second: "nodata 9"}, 6},
		{"the other family's addresses", world{"A " + first: "nodata 9", "AAAA " + first: "4 IN AAAA fd00::1"}, 4},
	} {
		var asked []string
		o := search.Walk(t.Context(), search.Names("web.", paths), dns.TypeA, c.world.lookup(&asked))
		m := o.Answer(query("web.search.shop.cluster.local.ap.k8s.io."), false)
		require.NotEmpty(t, m.Answer, c.reason)
		shortest := m.Answer[0].Header().Ttl
		require.Equal(t, c.want, shortest, c.reason)
		for _, soa := range m.Ns {
			require.LessOrEqual(t, soa.Header().Ttl, c.want, c.reason)
		}
		// A node's cache asked for the name alone, so there may be no alias.
		m = o.Answer(query("web."), true)
		for _, rr := range slices.Concat(m.Answer, m.Ns) {
			shortest = min(shortest, rr.Header().Ttl)
		}
		require.Equal(t, c.want, shortest, c.reason)
	}
}

func query(name string) *dns.Msg { return new(dns.Msg).SetQuestion(name, dns.TypeA) }

// What a name is looked up for is not changed by looking it up.
func TestAnswerLeavesTheRecordsOfTheirZoneAlone(t *testing.T) {
	zone := record("web. 300 IN A 192.0.2.1")
	reply := new(dns.Msg).SetReply(query("web."))
	reply.Answer = []dns.RR{zone}
	o := search.Walk(t.Context(), []string{"web.foo.com.", "web."}, dns.TypeA, func(_ context.Context, name string, qtype uint16) *dns.Msg {
		if name == "web." {
			return reply
		}
		return answer(name, qtype, "nxdomain 7")
	})
	require.Equal(t, uint32(7), o.Answer(query("web."), true).Answer[0].Header().Ttl)
	require.Equal(t, uint32(300), zone.Header().Ttl)
}

// resolve is what a resolver with these search paths finds: its documentation
// in code. It asks for both families at each name, takes the first name that has
// addresses, and otherwise says what it has heard: that a name exists, that
// something failed, or nothing.
func resolve(candidates []string, lookup search.Lookup) (addresses []string, verdict string) {
	exists, failed := false, false
	for _, candidate := range candidates {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
			reply := lookup(context.Background(), candidate, qtype)
			switch {
			case reply == nil || reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError:
				failed = true
			case reply.Rcode == dns.RcodeSuccess && len(reply.Answer) == 0:
				exists = true
			}
			addresses = append(addresses, addressesOf(reply)...)
		}
		if len(addresses) > 0 {
			return addresses, "found"
		}
	}
	switch {
	case exists:
		return nil, "nodata"
	case failed:
		return nil, "failed"
	}
	return nil, "missing"
}

func addressesOf(m *dns.Msg) []string {
	var all []string
	if m == nil {
		return nil
	}
	for _, rr := range m.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			all = append(all, netip.MustParseAddr(rr.A.String()).String())
		case *dns.AAAA:
			all = append(all, netip.MustParseAddr(rr.AAAA.String()).String())
		}
	}
	return all
}

// Whatever there is, two queries to the server get what a resolver gets that
// walks the search paths itself.
func TestWalkFindsWhatAResolverFinds(t *testing.T) {
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		candidates := []string{"web.shop.svc.cluster.local.", "web.svc.cluster.local.", "web.cluster.local.", "web.foo.com.", "web."}
		w := world{}
		for _, name := range candidates {
			kind := rapid.SampledFrom([]string{"nxdomain", "nxdomain", "nxdomain", "there", "there", "servfail", "timeout"}).Draw(rt, name)
			w[name] = kind
			for qtype, address := range map[string]string{"A": "60 IN A 10.0.0.1", "AAAA": "60 IN AAAA fd00::1"} {
				if kind == "there" {
					w[qtype+" "+name] = rapid.SampledFrom([]string{address, "nodata", "servfail"}).Draw(rt, qtype+" "+name)
				}
			}
		}
		var asked []string
		want, verdict := resolve(candidates, w.lookup(&asked))
		a := search.Walk(t.Context(), search.Names("web.", paths), dns.TypeA, w.lookup(&asked))
		aaaa := search.Walk(t.Context(), search.Names("web.", paths), dns.TypeAAAA, w.lookup(&asked))
		require.Equal(rt, want, append(addressesOf(a.Reply), addressesOf(aaaa.Reply)...))
		if len(want) == 0 {
			require.Equal(rt, verdict, max(a.Result, aaaa.Result).String())
			return
		}
		found++
		for _, o := range []search.Outcome{a, aaaa} {
			if o.Result == search.Found {
				require.NotEmpty(rt, addressesOf(o.Reply))
			}
		}
	})
	require.Positive(t, found)
}
