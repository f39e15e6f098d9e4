package searchpath_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchtest"
)

const (
	domain   = ".search.default.cluster.local.ap.k8s.io."
	patience = 30 * time.Second
	tick     = 20 * time.Millisecond
)

// seed are the names of the seed's example, an outside name, and more that are
// hard to tell.
func seed() []string {
	return []string{
		"service123.default.svc.cluster.local. 300 IN A 10.0.0.1",
		"service123.ns2.svc.cluster.local. 300 IN A 10.0.0.2",
		"service123.ns2.svc.cluster.local. 300 IN AAAA fd00::2",
		"_http._tcp.web.ns2.svc.cluster.local. 300 IN SRV 0 100 80 service123.ns2.svc.cluster.local.",
		"only4.default.svc.cluster.local. 300 IN A 10.0.0.4",
		"only4. 300 IN AAAA fd00::bad",
		"corp.foo.com. 300 IN A 192.0.2.1",
		"www.example.com. 300 IN A 192.0.2.80",
		"alias.example.com. 300 IN CNAME www.example.com.",
		"text.example.com. 300 IN TXT only",
		"empty.default.svc.cluster.local. 300 IN TXT only",
	}
}

// cluster is a cluster's DNS with the plugin searchexpand. Its own names and all
// others are those of one server.
func cluster(t testing.TB, names *searchtest.Names, plugins ...string) searchtest.Server {
	return searchtest.Start(t, `.:0 {
    bind 127.0.0.1
    searchexpand cluster.local {
        suffixes foo.com
    }
    `+strings.Join(plugins, "\n    ")+`
    forward . `+names.Address+`
}`)
}

// node is a node's cache.
func node(t testing.TB, cluster string, plugins ...string) searchtest.Server {
	return searchtest.Start(t, `.:0 {
    bind 127.0.0.1
    `+strings.Join(plugins, "\n    ")+`
    searchpath cluster.local {
        suffixes foo.com
    }
    forward . `+cluster+` {
        force_tcp
    }
}`)
}

// The seed's examples: each lookup is one query, and the answer follows a CNAME
// to the name found, as that of stock autopath does.
func TestOneQueryFindsWhatAnySearchPathHas(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set(seed())
	all := cluster(t, names, "cache")
	const soa = "\n. 30 IN SOA ns. hostmaster. 1 0 0 0 30"
	alias := func(from, to string) string { return "NOERROR\n" + from + domain + " 30 IN CNAME " + to }
	for place, server := range map[string]searchtest.Server{"through the node's cache": node(t, all.Address, "cache"), "asked directly": all} {
		for _, c := range []struct {
			reason, name string
			qtype        uint16
			want         string
		}{
			{"a Service of the same namespace", "service123", dns.TypeA,
				alias("service123", "service123.default.svc.cluster.local.\nservice123.default.svc.cluster.local. 300 IN A 10.0.0.1")},
			{"in any letters", "Only4", dns.TypeA, alias("Only4", "only4.default.svc.cluster.local.\nonly4.default.svc.cluster.local. 300 IN A 10.0.0.4")},
			{"a Service of another namespace", "service123.ns2", dns.TypeAAAA,
				alias("service123.ns2", "service123.ns2.svc.cluster.local.\nservice123.ns2.svc.cluster.local. 300 IN AAAA fd00::2")},
			{"a full name", "service123.ns2.svc.cluster.local", dns.TypeA,
				alias("service123.ns2.svc.cluster.local", "service123.ns2.svc.cluster.local.\nservice123.ns2.svc.cluster.local. 300 IN A 10.0.0.2")},
			{"another type", "_http._tcp.web.ns2", dns.TypeSRV,
				alias("_http._tcp.web.ns2", "_http._tcp.web.ns2.svc.cluster.local.\n_http._tcp.web.ns2.svc.cluster.local. 300 IN SRV 0 100 80 service123.ns2.svc.cluster.local.")},
			{"a name of the host's suffix", "corp", dns.TypeA, alias("corp", "corp.foo.com.\ncorp.foo.com. 300 IN A 192.0.2.1")},
			{"an outside name", "www.example.com", dns.TypeA, alias("www.example.com", "www.example.com.\nwww.example.com. 300 IN A 192.0.2.80")},
			{"an outside alias", "alias.example.com", dns.TypeCNAME, alias("alias.example.com", "alias.example.com.\nalias.example.com. 300 IN CNAME www.example.com.")},
			{"another type of an outside name", "text.example.com", dns.TypeTXT, alias("text.example.com", "text.example.com.\ntext.example.com. 300 IN TXT \"only\"")},
			{"no address of this family", "only4", dns.TypeAAAA, alias("only4", "only4.default.svc.cluster.local."+soa)},
			{"no address at all", "empty", dns.TypeA, alias("empty", "empty.default.svc.cluster.local."+soa)},
			{"a missing name", "missing", dns.TypeA, alias("missing", "missing."+soa)},
		} {
			reply := server.Ask(t, c.name+domain, c.qtype)
			require.Equal(t, withoutTTLs(c.want), withoutTTLs(searchtest.Text(reply)), "%s, %s", c.reason, place)
			require.False(t, reply.AuthenticatedData, c.reason)
		}
	}
}

// withoutTTLs leaves TTLs out: caches give all records the shortest one.
func withoutTTLs(text string) string {
	return strings.NewReplacer(" 300 ", " ", " 30 ", " ").Replace(text)
}

// For a pod, each lookup is one query a type; in the cluster's DNS it is one for
// each name that was passed over, once while they are cached.
func TestALookupIsOneQuery(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set(seed())
	server := node(t, cluster(t, names, "cache").Address, "cache")
	for _, c := range []struct {
		name string
		want int // names of the cluster's DNS
	}{{"service123", 1}, {"service123.ns2", 2}, {"www.example.com", 5}, {"missing", 5}} {
		names.Asked()
		for range 3 {
			server.Ask(t, c.name+domain, dns.TypeA)
		}
		require.Len(t, names.Asked(), c.want, c.name)
	}
}

// No name of ap.k8s.io leaves the node but those in the cluster's own search
// domains.
func TestOtherNamesOfTheZoneNeverLeaveTheNode(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	server := node(t, names.Address)
	before := searchtest.Counter(t, "coredns_searchpath_denied_total")
	const soa = "\nap.k8s.io. 30 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 30"
	for name, want := range map[string]string{
		"ap.k8s.io": "NOERROR", "local.ap.k8s.io": "NOERROR", "cluster.local.ap.k8s.io": "NOERROR", "shop.cluster.local.ap.k8s.io": "NOERROR",
		"search.shop.cluster.local.ap.k8s.io": "NOERROR",
		"web.ap.k8s.io":                       "NXDOMAIN", "web.search.shop.cluster.example.ap.k8s.io": "NXDOMAIN",
		"web.search.a*b.cluster.local.ap.k8s.io":                                      "NXDOMAIN",
		"web.search.shop.cluster.local.ap.k8s.io.search.shop.cluster.local.ap.k8s.io": "NXDOMAIN",
	} {
		reply := server.Ask(t, name, dns.TypeA)
		require.Equal(t, want+soa, searchtest.Text(reply), name)
		require.True(t, reply.Authoritative)
	}
	require.Empty(t, names.Asked())
	require.InDelta(t, 9, searchtest.Counter(t, "coredns_searchpath_denied_total")-before, 0)
}

// A pod may not make the node's cache keep another name's answer for everybody.
func TestAPodsOwnOptionIsTakenOut(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set([]string{"www.example.com. 300 IN A 192.0.2.80", "www.example.com.evil.example. 300 IN A 192.0.2.66"})
	server := node(t, cluster(t, names, "cache").Address, "cache")
	before := searchtest.Counter(t, "coredns_searchpath_ignored_total")
	query := searchtest.Query("www.example.com", dns.TypeA)
	query.SetEdns0(1232, false)
	query.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_LOCAL{Code: 65001, Data: []byte("evil.example")}}
	for _, q := range []*dns.Msg{query, searchtest.Query("www.example.com", dns.TypeA)} {
		require.Contains(t, searchtest.Text(server.Exchange(t, "udp", q)), "IN A 192.0.2.80")
	}
	require.InDelta(t, 1, searchtest.Counter(t, "coredns_searchpath_ignored_total")-before, 0)
}

// A server that does not know the option is told apart, and names still resolve,
// at the price of a query for each. Stock CoreDNS is one, a server that sends
// options back is another.
func TestAServerThatDoesNotKnowTheOption(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set(seed())
	stock := searchtest.Start(t, ".:0 {\n bind 127.0.0.1\n cache\n forward . "+names.Address+"\n}").Address
	echo := searchtest.Serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		m := names.Resolve(r.Question[0].Name, r.Question[0].Qtype)
		m.Id, m.Extra = r.Id, r.Extra
		_ = w.WriteMsg(m)
	})
	for reason, address := range map[string]string{"stock CoreDNS": stock, "an echo": echo} {
		server := node(t, address)
		before := searchtest.Counter(t, "coredns_searchpath_unsupported_total")
		for name, want := range map[string]string{
			"service123": "IN A 10.0.0.1", "service123.ns2": "IN A 10.0.0.2", "www.example.com": "IN A 192.0.2.80", "missing": "IN CNAME missing.",
		} {
			reply := server.Ask(t, name+domain, dns.TypeA)
			require.Contains(t, searchtest.Text(reply), want, reason)
			require.Equal(t, name+domain, reply.Question[0].Name, reason)
		}
		require.InDelta(t, 4, searchtest.Counter(t, "coredns_searchpath_unsupported_total")-before, 0, reason)
	}
}

func TestNobodyAnswersTheNode(t *testing.T) {
	server := node(t, "127.0.0.1:1")
	require.Equal(t, "SERVFAIL", searchtest.Text(server.Ask(t, "web"+domain, dns.TypeA)))
}

func TestFailuresAreToldIfNothingIsFound(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set(seed())
	server := node(t, cluster(t, names).Address)
	for _, name := range []string{"www.example.com.default.svc.cluster.local.", "missing.default.svc.cluster.local."} {
		names.Fail("A", name, dns.RcodeServerFailure)
	}
	require.Contains(t, searchtest.Text(server.Ask(t, "www.example.com"+domain, dns.TypeA)), "5 IN CNAME www.example.com.",
		"what a failure may hide is not kept for long")
	require.Equal(t, "SERVFAIL", searchtest.Text(server.Ask(t, "missing"+domain, dns.TypeA)))
}

// Large answers go over TCP, whole between the node and the cluster.
func TestLargeAnswers(t *testing.T) {
	const many = 200
	var records []string
	for i := range many {
		records = append(records, fmt.Sprintf("big.default.svc.cluster.local. 300 IN A 10.0.%d.%d", i/250, i%250))
	}
	names := searchtest.StartNames(t, 30)
	names.Set(records)
	all := cluster(t, names, "cache")
	for place, server := range map[string]searchtest.Server{"through the node's cache": node(t, all.Address, "cache"), "asked directly": all} {
		reply := server.Ask(t, "big"+domain, dns.TypeA)
		require.True(t, reply.Truncated, place)
		reply = server.Exchange(t, "tcp", searchtest.Query("big"+domain, dns.TypeA))
		require.False(t, reply.Truncated, place)
		require.Len(t, reply.Answer, many+1, place)
	}
}

// What is between the node and the cluster stays there.
func TestClientsSeeNoOption(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set(seed())
	server := node(t, cluster(t, names).Address)
	require.Nil(t, server.Ask(t, "service123"+domain, dns.TypeA).IsEdns0(), "a client without EDNS0")
	query := searchtest.Query("service123"+domain, dns.TypeA)
	query.SetEdns0(1232, true)
	opt := server.Exchange(t, "udp", query).IsEdns0()
	require.NotNil(t, opt)
	require.Empty(t, opt.Option)
	require.True(t, opt.Do())
	for _, asked := range names.Asked() {
		if opt := asked.IsEdns0(); opt != nil {
			require.Empty(t, opt.Option, "the upstream sees no search paths")
		}
	}
}

// Neither cache keeps an answer for longer than the negative answers that were
// passed over, whatever the TTLs of the records: a new name is seen in time.
func TestANewNameIsSeenAsSoonAsItsAbsenceIsForgotten(t *testing.T) {
	names := searchtest.StartNames(t, 1)
	outside := "www.example.com. 3000 IN A 192.0.2.80"
	names.Set([]string{outside})
	const caches = "cache {\n success 9984 3600 0\n denial 9984 3600 0\n }"
	server := node(t, cluster(t, names, caches).Address, caches)
	require.Contains(t, searchtest.Text(server.Ask(t, "www.example.com"+domain, dns.TypeA)), "1 IN CNAME www.example.com.")
	names.Set([]string{outside, "www.example.com.svc.cluster.local. 3000 IN A 10.0.0.9"})
	require.Eventually(t, func() bool {
		return strings.Contains(searchtest.Text(server.Ask(t, "www.example.com"+domain, dns.TypeA)), "10.0.0.9")
	}, patience, tick)
}

// Whatever there is, one query for each family finds what a resolver finds that
// walks the search paths itself, through the node's cache and without it.
func TestAnswersAreThoseOfAResolver(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	all := cluster(t, names)
	through := node(t, all.Address)
	stock := node(t, names.Address)
	rapid.Check(t, func(rt *rapid.T) {
		base := rapid.SampledFrom([]string{"web", "web.ns2", "www.example.com"}).Draw(rt, "base")
		candidates := []string{base + ".default.svc.cluster.local.", base + ".svc.cluster.local.", base + ".cluster.local.", base + ".foo.com.", base + "."}
		var records []string
		for i, name := range candidates {
			for kind, text := range map[string]string{"A": fmt.Sprintf("A 10.0.0.%d", i), "AAAA": fmt.Sprintf("AAAA fd00::%d", i), "TXT": "TXT x"} {
				if rapid.IntRange(0, 5).Draw(rt, kind+" "+name) == 0 {
					records = append(records, name+" 300 IN "+text)
				}
			}
		}
		names.Set(records)
		var want []string
		for _, name := range candidates {
			for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
				want = append(want, addresses(names.Resolve(name, qtype))...)
			}
			if len(want) > 0 {
				break
			}
		}
		for place, server := range map[string]searchtest.Server{"through the node's cache": through, "asked directly": all, "stock cluster": stock} {
			var got []string
			for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
				reply := server.Ask(t, base+domain, qtype)
				require.Equal(rt, dns.RcodeSuccess, reply.Rcode, place)
				got = append(got, addresses(reply)...)
			}
			require.Equal(rt, want, got, place)
		}
	})
}

func addresses(m *dns.Msg) []string {
	var all []string
	for _, rr := range m.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			all = append(all, rr.A.String())
		case *dns.AAAA:
			all = append(all, rr.AAAA.String())
		}
	}
	return all
}
