package autopath

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	parts "github.com/signpost-dns/signpost/test/clusterdns"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// many is how many random names are looked up in each mode.
func many() int { return sample.Cases(300, 300, 3000) }

// requireSameAnswers looks random names up for pods of two namespaces, and
// expects what pods get that expand by themselves.
func requireSameAnswers(t *testing.T, server string, names int, expanding func(namespace string) Resolver) {
	t.Helper()
	random, found, failed := rand.New(rand.NewPCG(sample.Seed(t), 5)), 0, 0
	for range names {
		namespace := []string{"shop", "ns2"}[random.IntN(2)]
		name := DrawName(random)
		short := WithAutopath(server, namespace)
		if random.IntN(10) == 0 { // some resolvers ask in any letters, so that answers are harder to forge
			short.Search[0] = otherLetters(random, short.Search[0])
		}
		want, got := resolve(t, expanding(namespace), name), resolve(t, short, name)
		require.Equal(t, text(want.Addresses), text(got.Addresses), "%s from %s", name, namespace)
		require.Equal(t, want.Failed, got.Failed, "%s from %s fails", name, namespace)
		if len(want.Addresses) > 0 {
			found++
		}
		if want.Failed {
			failed++
		}
	}
	t.Logf("of %d names, %d were found and %d failed", names, found, failed)
	require.Greater(t, found, names/10, "much of what is drawn should be there") // a quarter is
	require.Greater(t, names-found, names/10, "and much should not")
}

// In mode edns0 the answers are those that a pod gets that expands by itself.
func TestAnswersAreThoseOfPodsThatExpand(t *testing.T) {
	n := newNode(t, NewSite(t), edns0())
	requireSameAnswers(t, n.cache.HostPort(), many(), func(namespace string) Resolver {
		return Expanding(n.pod.HostPort(), namespace)
	})
}

// In mode static, too, but for one difference: the search of stock autopath ends
// with the first name that is not missing, where glibc's goes on if that name
// has no address, or its server fails. glibc then asks for the bare name.
func TestStaticAnswersAreThoseOfPodsThatExpandUpToNamesThatAreNotMissing(t *testing.T) {
	n := newNode(t, NewSite(t), static())
	expanding := func(namespace string) Resolver {
		r := Expanding(n.pod.HostPort(), namespace)
		r.Stops = true
		return r
	}
	t.Run("through the node's cache", func(t *testing.T) {
		requireSameAnswers(t, n.cache.HostPort(), many(), expanding)
	})
	t.Run("without a node's cache", func(t *testing.T) {
		requireSameAnswers(t, n.pod.HostPort(), many()/3, expanding)
	})
	t.Run("the difference", func(t *testing.T) {
		for _, c := range []struct {
			why, name, expanding, static string
			queries                      int
		}{
			{"no address in the nodes' first search domain, one in the second", "text", "198.51.100.20", "203.0.113.7", 2},
			{"a server that fails for the first", "fails", "198.51.100.21", "", 3},
		} {
			require.Equal(t, c.expanding, text(resolve(t, Expanding(n.pod.HostPort(), "shop"), c.name).Addresses), c.why)
			short := resolve(t, WithAutopath(n.cache.HostPort(), "shop"), c.name)
			require.Equal(t, c.static, text(short.Addresses), c.why)
			require.Equal(t, c.queries, short.Queries, c.why)
		}
	})
}

// The client that these tests compare with is glibc, in what it finds and in how
// often it asks; and glibc finds the same with autopath.
func TestGlibcFindsTheSame(t *testing.T) {
	names := sample.Cases(40, 40, 400)
	n := newNode(t, NewSite(t), edns0())
	require.Equal(t, resolvconf.Text(resolvconf.Autopath(autopath.LocalIP, autopath.SearchDomain("shop", corefile.DefaultDomain))),
		WithAutopath(n.cache.HostPort(), "shop").Conf(), "it has the resolv.conf of a pod with autopath")
	wire, random := hear(t, n.cache), rand.New(rand.NewPCG(sample.Seed(t), 400))
	for range names {
		expanding, name := Expanding(n.cache.HostPort(), "shop"), DrawName(random)
		want := resolve(t, expanding, name)
		cost := len(wire.queries(t))
		require.Equal(t, text(want.Addresses), text(getent(t, expanding, name)), name)
		if got := len(wire.queries(t)); want.TCP == 0 { // for large answers glibc takes several turns
			require.Equal(t, cost, got, "%s costs glibc as much", name)
		}
		require.Equal(t, text(want.Addresses), text(getent(t, WithAutopath(n.cache.HostPort(), "shop"), name)), "%s with autopath", name)
		wire.queries(t)
	}
}

// Go's own resolver, which many pods have, finds the same, too.
func TestGoFindsTheSame(t *testing.T) {
	names := sample.Cases(40, 40, 400)
	n := newNode(t, NewSite(t), edns0())
	short, random := WithAutopath(n.cache.HostPort(), "shop"), rand.New(rand.NewPCG(sample.Seed(t), 400))
	require.NoError(t, SetResolvConf(short.Conf()))
	native := &net.Resolver{PreferGo: true}
	wait.For(t, time.Minute, "Go to read resolv.conf anew", func() error {
		_, err := native.LookupHost(t.Context(), "service123")
		return err
	})
	for range names {
		name := DrawName(random)
		want := resolve(t, Expanding(n.cache.HostPort(), "shop"), name)
		found, err := native.LookupNetIP(t.Context(), "ip", name)
		for i := range found {
			found[i] = found[i].Unmap()
		}
		require.Equal(t, text(want.Addresses), text(sorted(found)), name)
		require.Equal(t, len(want.Addresses) == 0, err != nil, name)
	}
}

// counted are the names of the issue, and how many queries of each type they cost
// a pod of namespace shop: with search paths of its own, and with autopath.
var counted = []struct {
	what, name       string
	expanding, short int
	addresses        string
}{
	{"a Service of the own namespace", "service123", 1, 1, "10.96.1.1"},
	{"a Service of another namespace", "service123.ns2", 2, 1, "10.96.2.1"},
	{"a Service with both families", "dual", 1, 1, "10.96.1.2 fd00:10:96::102"},
	{"a Service with IPv6 alone", "six", 1, 1, "fd00:10:96::103"},
	{"a full name", "service123.ns2.svc.cluster.local", 6, 1, "10.96.2.1"},
	{"a host of the nodes' search domains", "both", 4, 1, "198.51.100.11 2001:db8::11"},
	{"a name outside", "www.example.org", 6, 1, "203.0.113.2 2001:db8:1::2"},
	{"a missing name", "missing", 6, 1, ""},
	{"a missing name with dots", "missing.example.org", 6, 1, ""},
	{"a name that is asked for as it is", "www.example.org.", 1, 1, "203.0.113.2 2001:db8:1::2"},
}

// Each lookup costs the pod one query of each type, counted on the wire, for
// the client that does as glibc does, and for glibc itself.
func TestEachNameCostsOneQueryOfEachType(t *testing.T) {
	site := NewSite(t)
	for _, wanted := range []*intent.Autopath{edns0(), static()} {
		t.Run(string(wanted.Mode), func(t *testing.T) {
			n := newNode(t, site, wanted)
			wire := hear(t, n.cache)
			for _, c := range counted {
				t.Run(c.what, func(t *testing.T) {
					for r, cost := range map[*Resolver]int{
						new(Expanding(n.cache.HostPort(), "shop")):    c.expanding,
						new(WithAutopath(n.cache.HostPort(), "shop")): c.short,
					} {
						require.Equal(t, c.addresses, text(resolve(t, *r, c.name).Addresses))
						require.Equal(t, cost, wire.cost(t), r.Conf())
						require.Equal(t, c.addresses, text(getent(t, *r, c.name)), "by glibc")
						require.Equal(t, cost, wire.cost(t), "by glibc, with %s", r.Conf())
					}
				})
			}
		})
	}
}

// What is found is told as stock autopath tells it: an alias that leads from the
// name that was asked for to the one that was found, and its records.
func TestAnswersHaveTheFormOfStockAutopath(t *testing.T) {
	s := NewSite(t)
	var forms [2][]string
	for i, wanted := range []*intent.Autopath{edns0(), static()} {
		wanted.Searches = HostSearch()
		pod := s.DNSPod(t, s.Asked(wanted, true))
		start(t, pod)
		for _, name := range []string{"service123", "dual", "db-0.db", "service123.ns2", "alias", "both", "six", "www.example.org", "chain.example.org"} {
			for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeSRV} {
				forms[i] = append(forms[i], form(t, pod, name+"."+autopath.SearchDomain("shop", corefile.DefaultDomain), kind))
			}
		}
	}
	require.Equal(t, forms[1], forms[0])
}

// form is an answer without what differs from one time to the next, and empty
// if there is no such record.
func form(t *testing.T, c *parts.CoreDNS, name string, kind uint16) string {
	t.Helper()
	m, err := c.Ask(t.Context(), name, kind)
	require.NoError(t, err)
	lines := []string{fmt.Sprintf("%s %s: %s, AD %t", name, dns.TypeToString[kind], dns.RcodeToString[m.Rcode], m.AuthenticatedData)}
	for _, rr := range m.Answer {
		rr.Header().Ttl = 0
		lines = append(lines, rr.String())
	}
	if !slices.ContainsFunc(m.Answer, func(rr dns.RR) bool { return rr.Header().Rrtype == kind }) {
		return ""
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}
