package clusterdns

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// How much TestTraceAgreesWithARealCoreDNS asks.
const (
	names = 30 // of each configuration
	pool  = 8  // upstreams

	enough = 12 // configurations, for every plugin to answer once
)

// TestTraceAgreesWithARealCoreDNS asks a real CoreDNS for random names, under
// random configurations, and sees by counting upstreams which way the query
// took: the one that corefile.Follow told before.
func TestTraceAgreesWithARealCoreDNS(t *testing.T) {
	w := NewWorld(t)
	w.Create(t, Asked(intent.DNSCRIntent{}))
	kubeconfig := w.Kubeconfig(t)
	var upstreams []*Upstream
	for i := range pool {
		upstreams = append(upstreams, w.upstream(t, fmt.Sprintf("192.0.2.%d", i+1)))
	}
	plugins := map[string]int{}
	configurations := sample.Cases(3, 3, enough)
	for n := range uint64(configurations) {
		seed := sample.Seed(t) + n
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same each time
		c := w.coreDNS(t, kubeconfig)
		config := configure(t, c, drawn(random, upstreams))
		start(t, c)
		for n := range names {
			name := fmt.Sprintf("q%d-%d.%s", seed, n, drawnName(random))
			kind := kinds()[random.IntN(len(kinds()))]
			way := corefile.Follow(config, corefile.Query{Name: name, Type: dns.TypeToString[kind]})
			answer, err := c.Ask(t.Context(), mixed(random, name), kind)
			require.NoError(t, err, name)
			requireWay(t, way, name+" "+dns.TypeToString[kind], who(upstreams, name), answer)
			plugins[way.Plugin]++
		}
		c.Kill()
	}
	require.Greater(t, plugins["forward"], configurations*names/2)
	if configurations >= enough {
		require.NotZero(t, plugins["kubernetes"])
		require.NotZero(t, plugins["chaos"])
	}
}

// kinds of records, DS among them, which CoreDNS looks for at the parent.
func kinds() []uint16 { return []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeDS} }

// requireWay expects that those were asked who the way leads to.
func requireWay(t *testing.T, way corefile.Way, question string, asked []string, answer *dns.Msg) {
	t.Helper()
	told := fmt.Sprintf("%s: %+v; asked were %v", question, way, asked)
	switch way.Plugin {
	case "kubernetes":
		require.Equal(t, dns.RcodeNameError, answer.Rcode, told)
		fallthrough
	case "chaos":
		require.Empty(t, asked, told)
		return
	}
	require.Equal(t, dns.RcodeSuccess, answer.Rcode, told)
	require.Len(t, asked, 1, told)
	require.Contains(t, way.Upstreams, asked[0], told)
	if way.Policy == "sequential" {
		require.Equal(t, way.Upstreams[0], asked[0], told)
	}
}

// who was asked for a name.
func who(upstreams []*Upstream, name string) []string {
	var out []string
	for _, u := range upstreams {
		if slices.ContainsFunc(u.Asked(), func(q Question) bool { return strings.EqualFold(q.Name, name) }) {
			out = append(out, u.At.String())
		}
	}
	return out
}

// zones lie within each other, end alike, and go around the cluster's.
func zones() []string {
	return []string{
		"foo.com", "a.foo.com", "b.a.foo.com", "ofoo.com", "com", "example.org", "10.in-addr.arpa", "in-addr.arpa",
		"web.cluster.local", "svc.cluster.local",
	}
}

// drawn is a random intent, each of whose servers has upstreams of its own.
func drawn(random *rand.Rand, upstreams []*Upstream) intent.DNSCRIntent {
	free := slices.Clone(upstreams)
	shuffle(random, free)
	take := func() []*Upstream {
		n := min(1+random.IntN(2), len(free))
		taken := free[:n]
		free = free[n:]
		return taken
	}
	policies := []string{"", "Random", "roundrobin", "SEQUENTIAL"}
	last := take()
	spec := seed(last[0])
	spec.UpstreamResolvers.Policy = policies[random.IntN(len(policies))]
	domains := zones()
	shuffle(random, domains)
	for i := 0; len(free) > 0 && i < 4; i++ {
		policy, upstreams := policies[random.IntN(len(policies))], take()
		if random.IntN(2) == 0 {
			spec.PluginConfig.ForwardPlugins = append(spec.PluginConfig.ForwardPlugins, forward(domains[2*i], policy, upstreams...))
			continue
		}
		plugin := intent.DNSServerForward{Policy: policy, Upstreams: forward("", "", upstreams...).Nameservers}
		spec.Servers = append(spec.Servers, intent.DNSServer{Name: "s", Zones: domains[2*i : 2*i+2], ForwardPlugin: plugin})
	}
	return spec
}

// drawnName is a zone, or a name in it or beside it.
func drawnName(random *rand.Rand) string {
	all := append(zones(), "elsewhere.net", "default.svc.cluster.local", "cluster.local", "2.0.192.in-addr.arpa", "ip6.arpa", "local", "hostname.bind")
	name := all[random.IntN(len(all))]
	for range random.IntN(3) {
		name = []string{"x", "foo", "a", "o"}[random.IntN(4)] + "." + name
	}
	return name
}

// mixed is a name in a mixture of letter cases, which are of no meaning.
func mixed(random *rand.Rand, name string) string {
	return strings.Map(func(r rune) rune {
		if random.IntN(2) == 0 {
			return unicode.ToUpper(r)
		}
		return r
	}, name)
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
