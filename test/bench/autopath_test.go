package bench

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/test/autopath"
	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/clusterdns"
	"github.com/signpost-dns/signpost/test/tools"
)

// dnsOfANode starts a DNS pod and a node's cache in front of it, with autopath
// in an EDNS0 option.
func dnsOfANode(b *testing.B, s *autopath.Site) (pod, cache *clusterdns.CoreDNS) {
	b.Helper()
	spec := s.Asked(&intent.Autopath{Mode: intent.AutopathEDNS0}, true)
	pod = s.DNSPod(b, spec)
	require.NoError(b, pod.Start(b.Context()))
	cache = s.NodeCache(b, spec, pod, netip.AddrPort{})
	require.NoError(b, cache.Start(b.Context()))
	return pod, cache
}

// BenchmarkAutopathLookup looks names up, both families of each, as pods of one
// namespace do through the cache of their node: "short" with autopath,
// "expanding" with search paths of their own. "queries/short" counts the
// questions for each lookup of the pod, of both types. The names of "cached" are
// in the node's cache; the others are new each time.
func BenchmarkAutopathLookup(b *testing.B) {
	const each = 50 // lookups in a turn
	_, cache := dnsOfANode(b, autopath.NewSite(b))
	number := 0
	fresh := func(format string) func() string {
		return func() string { number++; return fmt.Sprintf(format, number) }
	}
	always := func(name string) func() string { return func() string { return name } }
	for _, kind := range []struct {
		what string
		name func() string
	}{
		{"cached/service", always("service123")},
		{"cached/other-namespace", always("service123.ns2")},
		{"cached/outside", always("www.example.org")},
		{"cached/missing", always("missing")},
		{"new/outside", fresh("n%d.fresh.example.org")},
		{"new/missing", fresh("missing-%d")},
	} {
		b.Run(kind.what, func(b *testing.B) {
			queries := map[string]int{}
			turn := func(name string, r autopath.Resolver) compare.Contender {
				return compare.Contender{Name: name, Turn: func(b *testing.B) time.Duration {
					began := time.Now()
					for range each {
						result, err := r.Lookup(b.Context(), kind.name())
						require.NoError(b, err)
						queries[name] = 2 * result.Queries
					}
					return time.Since(began) / each
				}}
			}
			times := compare.Run(b, time.Microsecond,
				turn("short", autopath.WithAutopath(cache.HostPort(), "shop")),
				turn("expanding", autopath.Expanding(cache.HostPort(), "shop")))
			b.ReportMetric(times[1].Ratio(times[0]), "expanding/short")
			for name, n := range queries {
				b.ReportMetric(float64(n), "queries/"+name)
			}
		})
	}
}

// ordinary are names that no search path is needed for, in the order in which
// they are asked.
func ordinary() []string {
	return []string{
		"service123.shop.svc.cluster.local", "dual.shop.svc.cluster.local", "db.shop.svc.cluster.local", "nobody.shop.svc.cluster.local",
		"www.example.org", "chain.example.org", "missing.example.org", "kubernetes.default.svc.cluster.local",
	}
}

// BenchmarkPluginsCost asks ordinary names of two servers that have the same
// Corefile, but that signpost-dns has the plugin of autopath in it, and stock
// CoreDNS has not: "pod" is the cluster's DNS, "cache" that of a node, and
// "cache-misses" that of a node which is asked for names that are new each time:
// what is in the cache does not come to the plugin searchpath.
// "loss-%" is how much less signpost-dns answers in the same time: the median of
// the pairs of turns, with the tenth and ninetieth percentile beside it.
// "processor-loss-%" compares what the servers' processes spend, all turns
// together, which depends less on who else is at work.
func BenchmarkPluginsCost(b *testing.B) {
	s := autopath.NewSite(b)
	pod, cache := dnsOfANode(b, s)
	plain := s.Asked(nil, true)
	program, err := tools.Path(b.Context(), tools.CoreDNSFull)
	require.NoError(b, err)
	stockPod := s.DNSPod(b, plain)
	stockCache := s.NodeCache(b, plain, pod, netip.AddrPort{})
	for _, stock := range []*clusterdns.CoreDNS{stockPod, stockCache} {
		stock.Path = program
		require.NoError(b, stock.Start(b.Context()))
	}
	number := 0
	for _, c := range []struct {
		name        string
		ours, stock *clusterdns.CoreDNS
		names       func() []string
	}{
		{"pod", pod, stockPod, ordinary},
		{"cache", cache, stockCache, ordinary},
		{"cache-misses", cache, stockCache, func() []string { number++; return newNames(number) }},
	} {
		b.Run(c.name, func(b *testing.B) { costOfPlugins(b, c.ours, c.stock, c.names) })
	}
}

// newNames are so many that each is asked for once.
func newNames(series int) (names []string) {
	for n := range inATurn {
		names = append(names, fmt.Sprintf("n%d-%d.fresh.example.org", series, n))
	}
	return names
}

// inATurn is how many queries there are in one.
const inATurn = 10_000

func costOfPlugins(b *testing.B, ours, stock *clusterdns.CoreDNS, names func() []string) {
	b.Helper()
	took, spent := map[string][]time.Duration{}, map[string]time.Duration{}
	turn := func(name string, server *clusterdns.CoreDNS) compare.Contender {
		load{server.HostPort(), packed(b, names())}.run(b, inATurn) // fills the cache
		return compare.Contender{Name: name, Turn: func(b *testing.B) time.Duration {
			asked := load{server.HostPort(), packed(b, names())}
			before, err := server.ProcessorTime()
			require.NoError(b, err)
			time := asked.run(b, inATurn)
			after, err := server.ProcessorTime()
			require.NoError(b, err)
			took[name], spent[name] = append(took[name], time), spent[name]+after-before
			return time / inATurn
		}}
	}
	compare.Run(b, time.Microsecond, turn("ours", ours), turn("stock", stock))
	var losses []float64
	for n := range took["ours"] {
		losses = append(losses, 100*(1-float64(took["stock"][n])/float64(took["ours"][n])))
	}
	slices.Sort(losses)
	for name, quantile := range map[string]float64{"loss-%": 0.5, "loss-p10-%": 0.1, "loss-p90-%": 0.9} {
		b.ReportMetric(losses[int(quantile*float64(len(losses)-1)+0.5)], name)
	}
	b.ReportMetric(100*(1-float64(spent["stock"])/float64(spent["ours"])), "processor-loss-%")
	for name, time := range spent {
		b.ReportMetric(float64(time.Microseconds())/float64(inATurn*len(took[name])), "processor-"+name+"-µs")
	}
}
