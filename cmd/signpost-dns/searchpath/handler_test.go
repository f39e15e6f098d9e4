package searchpath

import (
	"context"
	"testing"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/dnstest"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/coredns/coredns/plugin/test"
	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// handler is the plugin with these settings before another one.
func handler(t testing.TB, corefile string, next plugin.HandlerFunc) *SearchPath {
	t.Helper()
	settings, err := parse(caddy.NewTestController("dns", corefile), clog.NewWithPlugin(Name))
	require.NoError(t, err)
	return &SearchPath{Next: next, settings: settings, counts: newCounts(prometheus.NewRegistry())}
}

// server is a server with the plugin searchexpand to which no name is missing.
func server(_ context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	m := new(dns.Msg).SetReply(r)
	if r.Question[0].Qtype == dns.TypeA {
		m.Answer = []dns.RR{test.A(r.Question[0].Name + " 60 IN A 192.0.2.1")}
	}
	if search.OptionOf(r, 65001) != nil {
		search.Confirm(m, r, 65001, 1)
	}
	return dns.RcodeSuccess, w.WriteMsg(m)
}

func TestTheServerIsAskedForTheBareNameWithTheSearchPaths(t *testing.T) {
	var asked *dns.Msg
	p := handler(t, "searchpath cluster.local {\n suffixes foo.com\n option 65010\n}", func(_ context.Context, _ dns.ResponseWriter, r *dns.Msg) (int, error) {
		asked = r
		return dns.RcodeServerFailure, nil
	})
	query := new(dns.Msg).SetQuestion("service123.search.default.cluster.local.ap.k8s.io.", dns.TypeA)
	rcode, err := p.ServeDNS(t.Context(), &test.ResponseWriter{}, query)
	require.NoError(t, err)
	require.Equal(t, dns.RcodeServerFailure, rcode, "who does not answer is asked no more")
	require.Equal(t, "service123.", asked.Question[0].Name)
	require.Equal(t, "default.svc.cluster.local,svc.cluster.local,cluster.local,foo.com", string(search.OptionOf(asked, 65010).Data))
	require.Equal(t, "service123.search.default.cluster.local.ap.k8s.io.", query.Question[0].Name)
	require.Nil(t, query.IsEdns0())
}

// What no resolver searches for is asked of nobody.
func TestZoneTransfersDoNotLeaveTheNode(t *testing.T) {
	p := handler(t, "searchpath cluster.local", func(context.Context, dns.ResponseWriter, *dns.Msg) (int, error) {
		t.Error("it left the node")
		return dns.RcodeSuccess, nil
	})
	for _, name := range []string{"ap.k8s.io.", "web.search.default.cluster.local.ap.k8s.io."} {
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := p.ServeDNS(t.Context(), w, new(dns.Msg).SetQuestion(name, dns.TypeAXFR))
		require.NoError(t, err)
		require.Empty(t, w.Msg.Answer)
	}
}

// What is no query about the zone of search domains is not for anybody either.
func TestNotifiesOfTheZoneDoNotLeaveTheNode(t *testing.T) {
	p := handler(t, "searchpath cluster.local", func(context.Context, dns.ResponseWriter, *dns.Msg) (int, error) {
		t.Error("it left the node")
		return dns.RcodeSuccess, nil
	})
	for _, opcode := range []int{dns.OpcodeNotify, dns.OpcodeUpdate, dns.OpcodeStatus, dns.OpcodeIQuery} {
		for _, name := range []string{"ap.k8s.io.", "web.search.default.cluster.local.ap.k8s.io.", "WWW.AP.K8s.io."} {
			w := dnstest.NewRecorder(&test.ResponseWriter{})
			query := new(dns.Msg).SetQuestion(name, dns.TypeSOA)
			query.Opcode = opcode
			_, err := p.ServeDNS(t.Context(), w, query)
			require.NoError(t, err)
			require.Equal(t, dns.RcodeNotImplemented, w.Msg.Rcode)
			require.Equal(t, opcode, w.Msg.Opcode)
		}
	}
	require.InDelta(t, 12, testutil.ToFloat64(p.counts.denied.WithLabelValues("")), 0)
}

// A lookup that panics has failed, and the server goes on.
func TestAPanicIsAFailedLookup(t *testing.T) {
	p := handler(t, "searchpath cluster.local", func(_ context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
		switch r.Question[0].Name {
		case "web.default.svc.cluster.local.":
			panic("a plugin is broken")
		case "web.svc.cluster.local.":
			return dns.RcodeSuccess, w.WriteMsg(&dns.Msg{Answer: []dns.RR{test.A("web.svc.cluster.local. 60 IN A 192.0.2.1")}})
		}
		return dns.RcodeSuccess, w.WriteMsg(new(dns.Msg).SetRcode(r, dns.RcodeNameError))
	})
	w := dnstest.NewRecorder(&test.ResponseWriter{})
	_, err := p.ServeDNS(t.Context(), w, new(dns.Msg).SetQuestion("web.search.default.cluster.local.ap.k8s.io.", dns.TypeA))
	require.NoError(t, err)
	require.Len(t, w.Msg.Answer, 2)
}

// A server that does not know the option sees a pod's own one as little as one
// that does.
func TestAPodsOwnOptionIsTakenOutOfAWalk(t *testing.T) {
	var asked []string
	p := handler(t, "searchpath cluster.local", func(_ context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
		if option := search.OptionOf(r, 65001); option != nil {
			asked = append(asked, string(option.Data))
		}
		return dns.RcodeSuccess, w.WriteMsg(new(dns.Msg).SetRcode(r, dns.RcodeNameError))
	})
	query := search.Ask(new(dns.Msg).SetQuestion("web.", dns.TypeA), "web.search.default.cluster.local.ap.k8s.io.", 65001, []string{"evil.example"})
	_, err := p.ServeDNS(t.Context(), dnstest.NewRecorder(&test.ResponseWriter{}), query)
	require.NoError(t, err)
	require.Equal(t, []string{"default.svc.cluster.local,svc.cluster.local,cluster.local"}, asked)
}

func TestOtherQueriesPassAtOnce(t *testing.T) {
	next := plugin.HandlerFunc(func(context.Context, dns.ResponseWriter, *dns.Msg) (int, error) { return dns.RcodeSuccess, nil })
	p := handler(t, "searchpath cluster.local", next)
	w, ctx := &test.ResponseWriter{}, t.Context()
	for _, name := range []string{"www.example.com.", "service123.default.svc.cluster.local.", "WWW.Example.COM."} {
		query := new(dns.Msg).SetQuestion(name, dns.TypeA)
		query.SetEdns0(1232, true)
		passing := testing.AllocsPerRun(100, func() { _, _ = plugin.NextOrFailure(Name, next, ctx, w, query) })
		require.InDelta(t, passing, testing.AllocsPerRun(100, func() { _, _ = p.ServeDNS(ctx, w, query) }), 0, name)
	}
}

func TestAnUnknownOptionIsLoggedOnceAMinute(t *testing.T) {
	p, now := &SearchPath{}, time.Now()
	require.True(t, p.mayWarn(now))
	require.False(t, p.mayWarn(now.Add(59*time.Second)))
	require.True(t, p.mayWarn(now.Add(61*time.Second)))
}

func TestMissingNXDOMAIN(t *testing.T) {
	missing := func(_ context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
		m := new(dns.Msg).SetRcode(r, dns.RcodeNameError)
		m.Ns = []dns.RR{test.SOA(". 30 IN SOA a. b. 1 2 3 4 30")}
		search.Confirm(m, r, 65001, 1)
		return dns.RcodeNameError, w.WriteMsg(m)
	}
	query := new(dns.Msg).SetQuestion("web.search.default.cluster.local.ap.k8s.io.", dns.TypeA)
	for corefile, want := range map[string]int{"searchpath cluster.local": dns.RcodeSuccess, "searchpath cluster.local {\n missing nxdomain\n}": dns.RcodeNameError} {
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := handler(t, corefile, missing).ServeDNS(t.Context(), w, query)
		require.NoError(t, err)
		require.Equal(t, want, w.Msg.Rcode)
		require.Equal(t, want == dns.RcodeNameError, len(w.Msg.Answer) == 0)
	}
}

// FuzzServeDNS: whatever a pod sends, the node's cache goes on, asks nobody for
// a name of ap.k8s.io, and sends no option on that it has not made.
func FuzzServeDNS(f *testing.F) {
	for _, name := range []string{"web.search.shop.cluster.local.ap.k8s.io.", `a\.b.search.x.cluster.local.ap.k8s.io.`, "search.shop.cluster.local.ap.k8s.io.", "www.example.com."} {
		m := new(dns.Msg).SetQuestion(name, dns.TypeA)
		m.SetEdns0(1232, true)
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_LOCAL{Code: 65001, Data: []byte("foo.com,bar.com")}}
		packed, err := m.Pack()
		require.NoError(f, err)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		query := new(dns.Msg)
		if query.Unpack(wire) != nil || len(query.Question) == 0 {
			return // the server does not let it through
		}
		asked := 0
		p := handler(t, "searchpath cluster.local", func(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
			asked++
			require.False(t, search.IsInZone(r.Question[0].Name), r.Question[0].Name)
			if option := search.OptionOf(r, 65001); option != nil {
				require.Regexp(t, `^[a-z0-9_-]+\.svc\.cluster\.local,svc\.cluster\.local,cluster\.local$`, string(option.Data))
			}
			_, err := r.Pack()
			require.NoError(t, err)
			return server(ctx, w, r)
		})
		w := dnstest.NewRecorder(&test.ResponseWriter{})
		_, err := p.ServeDNS(t.Context(), w, query)
		require.NoError(t, err)
		require.NotNil(t, w.Msg)
		require.LessOrEqual(t, asked, 1)
		_, err = w.Msg.Pack()
		require.NoError(t, err)
	})
}

// What the plugin costs: a query that is none of its own, beside one that does
// not pass it, and one that it sends on.
func BenchmarkServeDNS(b *testing.B) {
	next := plugin.HandlerFunc(func(context.Context, dns.ResponseWriter, *dns.Msg) (int, error) { return dns.RcodeSuccess, nil })
	p, w := handler(b, "searchpath cluster.local", next), &test.ResponseWriter{}
	other := new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA)
	b.Run("without", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = plugin.NextOrFailure(Name, next, b.Context(), w, other)
		}
	})
	b.Run("other", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = p.ServeDNS(b.Context(), w, other)
		}
	})
	b.Run("search", func(b *testing.B) {
		p.Next = plugin.HandlerFunc(server)
		query := new(dns.Msg).SetQuestion("service123.search.default.cluster.local.ap.k8s.io.", dns.TypeA)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = p.ServeDNS(b.Context(), w, query)
		}
	})
}
