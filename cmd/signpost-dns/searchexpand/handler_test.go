package searchexpand

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/test"
	"github.com/coredns/coredns/request"
	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

// server looks names up in place of a whole server, and notes them. The names
// that it has have an IPv4 address.
type server struct {
	has   map[string]bool
	asked []string
	fails error
}

func (s *server) Lookup(_ context.Context, state request.Request, name string, qtype uint16) (*dns.Msg, error) {
	s.asked = append(s.asked, name)
	m := new(dns.Msg).SetReply(state.Req)
	m.Question[0] = dns.Question{Name: name, Qtype: qtype, Qclass: dns.ClassINET}
	switch {
	case !s.has[name]:
		m.Rcode, m.Ns = dns.RcodeNameError, []dns.RR{test.SOA(". 30 IN SOA a. b. 1 2 3 4 30")}
	case qtype == dns.TypeA:
		m.Answer = []dns.RR{test.A(name + " 60 IN A 192.0.2.1")}
	}
	return m, s.fails
}

// handler is the plugin with these settings. What it passes on is noted.
func handler(t testing.TB, corefile string, upstream *server, passed *[]*dns.Msg) *SearchExpand {
	t.Helper()
	e, err := parse(caddy.NewTestController("dns", corefile))
	require.NoError(t, err)
	e.upstream, e.counts = upstream, newCounts(prometheus.NewRegistry())
	e.Next = plugin.HandlerFunc(func(_ context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
		*passed = append(*passed, r)
		return dns.RcodeSuccess, w.WriteMsg(new(dns.Msg).SetReply(r))
	})
	return e
}

// asked is a query of a node's cache.
func asked(name string, option string) *dns.Msg {
	m := new(dns.Msg).SetQuestion(name, dns.TypeA)
	m.SetEdns0(1232, true)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_LOCAL{Code: autopath.Option, Data: []byte(option)}}
	return m
}

func TestANodesCacheIsToldWhatWasFound(t *testing.T) {
	for _, c := range []struct {
		reason, found string
		lookups       int
		rcode         int
		answer        []string
	}{
		{"by a path", "web.b.example.", 2, dns.RcodeSuccess, []string{"web.	30	IN	CNAME	web.b.example.", "web.b.example.	60	IN	A	192.0.2.1"}},
		{"as it is", "web.", 3, dns.RcodeSuccess, []string{"web.	30	IN	A	192.0.2.1"}},
		{"nothing", "", 3, dns.RcodeNameError, nil},
	} {
		var passed []*dns.Msg
		upstream := &server{has: map[string]bool{c.found: true}}
		e := handler(t, "searchexpand", upstream, &passed)
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := e.ServeDNS(t.Context(), w, asked("Web.", "a.example,b.example"))
		require.NoError(t, err, c.reason)
		require.Equal(t, c.rcode, w.Msg.Rcode, c.reason)
		var answer []string
		for _, rr := range w.Msg.Answer {
			answer = append(answer, strings.ToLower(rr.String()[:4])+rr.String()[4:])
		}
		require.Equal(t, c.answer, answer, c.reason)
		require.Equal(t, strconv.Itoa(c.lookups), string(search.OptionOf(w.Msg, autopath.Option).Data), c.reason)
		require.True(t, w.Msg.IsEdns0().Do())
		require.Equal(t, "Web.", w.Msg.Question[0].Name)
		require.Len(t, upstream.asked, c.lookups, c.reason)
		require.Empty(t, passed, c.reason)
	}
}

// An option that is none, or from somebody who may not send one, is ignored and
// counted, and not sent on; the query goes its normal way.
func TestAnOptionThatIsNoneIsIgnored(t *testing.T) {
	for _, c := range []struct{ reason, name, option, corefile string }{
		{"no_list", "web.", "a.example, b.example", "searchexpand"},
		{"no_list", "web.", "", "searchexpand"},
		{"no_list", "web.", "\x00", "searchexpand"},
		{"too_long", "web.", strings.Repeat("a", autopath.MaxBytes+1), "searchexpand"},
		{"too_long", "web.", strings.Repeat("a.example,", autopath.MaxPaths) + "b", "searchexpand"},
		{"bad_label", "web.", strings.Repeat("a", 64) + ".example", "searchexpand"},
		{"loop", "web.", "search.shop.cluster.local.ap.k8s.io", "searchexpand"},
		{"loop", "web.", "a.example,a.example", "searchexpand"},
		{"name", ".", "a.example", "searchexpand"},
		{"name", "web.shop.ap.k8s.io.", "a.example", "searchexpand"},
		{"client", "web.", "a.example", "searchexpand {\n allow 10.1.0.0/16 fd00::/8\n}"},
	} {
		var passed []*dns.Msg
		upstream := &server{}
		e := handler(t, c.corefile, upstream, &passed)
		_, err := e.ServeDNS(t.Context(), dnstest.NewRecorder(&test.ResponseWriter{}), asked(c.name, c.option))
		require.NoError(t, err, c.reason)
		require.Len(t, passed, 1, c.reason)
		require.Nil(t, search.OptionOf(passed[0], autopath.Option), c.reason)
		require.True(t, passed[0].IsEdns0().Do(), c.reason)
		require.Empty(t, upstream.asked, c.reason)
		require.InDelta(t, 1, testutil.ToFloat64(e.counts.ignored.WithLabelValues("", c.reason)), 0, c.reason)
	}
}

// A name in a search domain is expanded, even beside an option that is ignored.
func TestTheNameAloneIsEnough(t *testing.T) {
	var passed []*dns.Msg
	upstream := &server{has: map[string]bool{"web.shop.svc.cluster.local.": true}}
	e := handler(t, "searchexpand cluster.local", upstream, &passed)
	w := dnstest.NewRecorder(&test.ResponseWriter{})
	_, err := e.ServeDNS(t.Context(), w, asked("web.search.shop.cluster.local.ap.k8s.io.", "a.example"))
	require.NoError(t, err)
	require.Len(t, w.Msg.Answer, 2)
	require.Empty(t, passed)
}

func TestNamesThatAreNotExpanded(t *testing.T) {
	for reason, c := range map[string]struct{ corefile, name string }{
		"without a cluster's domain":   {"searchexpand", "web.search.shop.cluster.local.ap.k8s.io."},
		"a name outside of the zone":   {"searchexpand cluster.local", "web.shop.svc.cluster.local."},
		"another option's code is set": {"searchexpand cluster.local {\n option 65002\n}", "web."},
	} {
		var passed []*dns.Msg
		upstream := &server{}
		query := asked(c.name, "a.example")
		if c.name != "web." {
			query = new(dns.Msg).SetQuestion(c.name, dns.TypeA)
		}
		_, err := handler(t, c.corefile, upstream, &passed).ServeDNS(t.Context(), dnstest.NewRecorder(&test.ResponseWriter{}), query)
		require.NoError(t, err, reason)
		require.Equal(t, []*dns.Msg{query}, passed, reason)
		require.Empty(t, upstream.asked, reason)
	}
}

// No other name of the zone leaves the cluster: search domains and their ancestors
// have no records, and whatever else does not exist.
func TestNoOtherNameOfTheZoneLeavesTheCluster(t *testing.T) {
	for name, want := range map[string]int{
		"ap.k8s.io.": dns.RcodeSuccess, "Local.ap.k8s.io.": dns.RcodeSuccess, "cluster.local.ap.k8s.io.": dns.RcodeSuccess,
		"shop.cluster.local.ap.k8s.io.": dns.RcodeSuccess, "search.shop.cluster.local.ap.k8s.io.": dns.RcodeSuccess,
		"x.ap.k8s.io.": dns.RcodeNameError, "web.search.shop.cluster.example.ap.k8s.io.": dns.RcodeNameError,
		"search.shop.cluster.example.ap.k8s.io.":                               dns.RcodeNameError,
		"a.search.b.cluster.local.ap.k8s.io.search.b.cluster.local.ap.k8s.io.": dns.RcodeNameError,
	} {
		var passed []*dns.Msg
		upstream := &server{}
		e := handler(t, "searchexpand cluster.local", upstream, &passed)
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := e.ServeDNS(t.Context(), w, new(dns.Msg).SetQuestion(name, dns.TypeA))
		require.NoError(t, err, name)
		require.Equal(t, want, w.Msg.Rcode, name)
		require.Empty(t, w.Msg.Answer, name)
		require.Equal(t, "ap.k8s.io.", w.Msg.Ns[0].(*dns.SOA).Hdr.Name, name)
		require.True(t, w.Msg.Authoritative, name)
		require.Empty(t, passed, name)
		require.Empty(t, upstream.asked, name)
		require.InDelta(t, 1, testutil.ToFloat64(e.counts.denied.WithLabelValues("")), 0, name)
	}
}

// client is a writer for a client at some address.
type client struct {
	test.ResponseWriter
	address net.Addr
}

func (c *client) RemoteAddr() net.Addr { return c.address }

func TestOnlyTheAllowedMaySendTheOption(t *testing.T) {
	var passed []*dns.Msg
	e := handler(t, "searchexpand {\n allow 10.1.0.0/16 fd00::/8\n allow fe80::/10\n}", &server{}, &passed)
	for address, want := range map[string]bool{
		"10.1.2.3": true, "10.2.0.1": false, "fd00::1": true, "2001:db8::1": false, "::ffff:10.1.0.1": true, "fe80::1%eth0": true,
	} {
		udp, err := net.ResolveUDPAddr("udp", net.JoinHostPort(address, "5353"))
		require.NoError(t, err)
		require.Equal(t, want, e.allows(&client{address: udp}), address)
	}
	require.False(t, e.allows(&client{address: &net.UnixAddr{Name: "socket"}}))
}

func TestOtherQueriesPassAtOnce(t *testing.T) {
	var passed []*dns.Msg
	e := handler(t, "searchexpand cluster.local {\n allow 10.0.0.0/8\n}", &server{}, &passed)
	next := plugin.HandlerFunc(func(context.Context, dns.ResponseWriter, *dns.Msg) (int, error) { return dns.RcodeSuccess, nil })
	e.Next = next
	w, ctx := &test.ResponseWriter{}, t.Context()
	for _, name := range []string{"www.example.com.", "service123.default.svc.cluster.local.", "web.ap.k8s.io.example."} {
		query := new(dns.Msg).SetQuestion(name, dns.TypeA)
		query.SetEdns0(1232, true)
		query.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "24a5ac1223344556"}}
		passing := testing.AllocsPerRun(100, func() { _, _ = plugin.NextOrFailure(Name, next, ctx, w, query) })
		require.InDelta(t, passing, testing.AllocsPerRun(100, func() { _, _ = e.ServeDNS(ctx, w, query) }), 0, name)
	}
}

// What cannot be looked up is a failure that says so.
func TestNobodyLooksUp(t *testing.T) {
	var passed []*dns.Msg
	e := handler(t, "searchexpand cluster.local", &server{fails: errors.New("no full server is running")}, &passed)
	for _, query := range []*dns.Msg{asked("web.", "a.example"), new(dns.Msg).SetQuestion("web.search.shop.cluster.local.ap.k8s.io.", dns.TypeA)} {
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := e.ServeDNS(t.Context(), w, query)
		require.NoError(t, err)
		require.Equal(t, dns.RcodeServerFailure, w.Msg.Rcode)
	}
}

// A search ends when the client has gone.
func TestNoSearchOutlivesItsQuery(t *testing.T) {
	var passed []*dns.Msg
	upstream := &server{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := handler(t, "searchexpand", upstream, &passed).ServeDNS(ctx, dnstest.NewRecorder(&test.ResponseWriter{}), asked("web.", "a.example"))
	require.NoError(t, err)
	require.Empty(t, upstream.asked)
}

func TestSearchesAreCounted(t *testing.T) {
	var passed []*dns.Msg
	e := handler(t, "searchexpand cluster.local", &server{has: map[string]bool{"web.": true}}, &passed)
	for _, query := range []*dns.Msg{
		asked("web.", "a.example"), asked("gone.", "a.example"), new(dns.Msg).SetQuestion("web.search.shop.cluster.local.ap.k8s.io.", dns.TypeA),
	} {
		_, err := e.ServeDNS(t.Context(), dnstest.NewRecorder(&test.ResponseWriter{}), query)
		require.NoError(t, err)
	}
	for _, labels := range [][]string{{"option", "found"}, {"option", "missing"}, {"name", "found"}} {
		require.InDelta(t, 1, testutil.ToFloat64(e.counts.answers.WithLabelValues("", labels[0], labels[1])), 0, labels)
	}
	require.InDelta(t, 8, testutil.ToFloat64(e.counts.lookups.WithLabelValues("")), 0)
}

// FuzzOption: whatever an option holds, it is a list of paths that are looked
// up, each once, or ignored and counted.
func FuzzOption(f *testing.F) {
	f.Add([]byte("default.svc.cluster.local,svc.cluster.local,cluster.local"))
	f.Add([]byte(",.,a..b"))
	f.Add([]byte("search.shop.cluster.local.ap.k8s.io"))
	f.Fuzz(func(t *testing.T, option []byte) {
		var passed []*dns.Msg
		upstream := &server{}
		e := handler(t, "searchexpand", upstream, &passed)
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := e.ServeDNS(t.Context(), w, asked("web.", string(option)))
		require.NoError(t, err)
		paths, err := autopath.Decode(option)
		if err != nil {
			require.Len(t, passed, 1)
			require.InDelta(t, 1, testutil.ToFloat64(e.counts.ignored.WithLabelValues("", reason(err))), 0)
			return
		}
		require.Empty(t, passed)
		require.Equal(t, search.Names("web.", paths), upstream.asked)
		require.Equal(t, strconv.Itoa(len(upstream.asked)), string(search.OptionOf(w.Msg, autopath.Option).Data))
	})
}

// FuzzServeDNS: whatever a client sends, there is one answer, and no name of
// ap.k8s.io is looked up on the way to it.
func FuzzServeDNS(f *testing.F) {
	for _, name := range []string{"web.", "web.search.shop.cluster.local.ap.k8s.io.", `a\.b.search.x.cluster.local.ap.k8s.io.`, "."} {
		packed, err := asked(name, "foo.com,bar.com").Pack()
		require.NoError(f, err)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		query := new(dns.Msg)
		if query.Unpack(wire) != nil || len(query.Question) == 0 {
			return // the server does not let it through
		}
		var passed []*dns.Msg
		upstream := &server{has: map[string]bool{query.Question[0].Name: true}}
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := handler(t, "searchexpand cluster.local", upstream, &passed).ServeDNS(t.Context(), w, query)
		require.NoError(t, err)
		require.NotNil(t, w.Msg)
		if search.InZone(query) {
			require.Empty(t, passed, "no name of the zone leaves the cluster")
		} else {
			require.Equal(t, len(passed) == 0, len(upstream.asked) > 0)
		}
		for _, name := range upstream.asked {
			require.False(t, search.IsInZone(name), name)
		}
		for _, r := range passed {
			require.Nil(t, search.OptionOf(r, autopath.Option))
		}
		_, err = w.Msg.Pack()
		require.NoError(t, err)
	})
}

// What the plugin costs a query that is none of its own, beside one that it
// expands.
func BenchmarkServeDNS(b *testing.B) {
	for name, query := range map[string]*dns.Msg{"other": new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA), "option": asked("www.example.com.", "a.svc.cluster.local,svc.cluster.local")} {
		b.Run(name, func(b *testing.B) {
			var passed []*dns.Msg
			e := handler(b, "searchexpand cluster.local", &server{has: map[string]bool{"www.example.com.": true}}, &passed)
			e.Next = plugin.HandlerFunc(func(context.Context, dns.ResponseWriter, *dns.Msg) (int, error) { return dns.RcodeSuccess, nil })
			w := &test.ResponseWriter{}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = e.ServeDNS(b.Context(), w, query)
			}
		})
	}
}
