package kubelet

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// cases are pods and nodes, of few words, so that these meet again, and now and
// then beyond every limit.
func cases() *rapid.Generator[example] {
	policies := []intent.DNSPolicy{intent.DNSDefault, intent.DNSClusterFirst, intent.DNSClusterFirstWithHostNet, intent.DNSNone}
	return rapid.Custom(func(t *rapid.T) example {
		return example{
			host:       strings.Join(rapid.SliceOfN(hostLine(), 0, 8).Draw(t, "host"), "\n"),
			domain:     rapid.SampledFrom([]string{"cluster.local", "a.example", "k8s.corp.example"}).Draw(t, "domain"),
			clusterDNS: some(0, 4, "10.96.0.10", "fd00::a", "10.0.0.10").Draw(t, "cluster DNS"),
			pod: resolvconf.Pod{
				Namespace:   rapid.SampledFrom([]string{"default", "shop"}).Draw(t, "namespace"),
				HostNetwork: rapid.Bool().Draw(t, "host network"),
				Policy:      rapid.SampledFrom(policies).Draw(t, "policy"),
				Config:      rapid.Ptr(settings(), true).Draw(t, "config"),
			},
		}
	})
}

func some(least, most int, words ...string) *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.SampledFrom(words), least, most)
}

// domains are searches as they may be written: also with a dot at the end, the
// root, longer than a name may be, and so many that not all have room.
func domains() *rapid.Generator[[]string] {
	label := strings.Repeat("x", 60)
	few := some(0, 6, "a.example", "b.example.", "svc.cluster.local", "cluster.local", ".", "A.example", "_x.example")
	many := some(30, 36, "a.example", label+".example", "b.example")
	long := some(0, 12, strings.Repeat(label+".", 4)+"example", strings.Repeat(label+".", 3)+"example", "a.example", strings.Repeat("y", 253), strings.Repeat("z", 254))
	distinct := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,80}\.example`), 28, 40, rapid.ID[string])
	return rapid.OneOf(few, few, many, long, distinct)
}

func settings() *rapid.Generator[intent.PodDNSConfig] {
	values := rapid.Ptr(rapid.SampledFrom([]string{"", "1", "5"}), true)
	return rapid.Custom(func(t *rapid.T) intent.PodDNSConfig {
		c := intent.PodDNSConfig{
			Nameservers: some(0, 5, "1.2.3.4", "5.6.7.8", "2001:db8::1", "9.9.9.9").Draw(t, "nameservers"),
			Searches:    domains().Draw(t, "searches"),
		}
		for _, name := range some(0, 4, "ndots", "edns0", "timeout", "x:y").Draw(t, "options") {
			c.Options = append(c.Options, intent.PodDNSOption{Name: name, Value: values.Draw(t, "value")})
		}
		return c
	})
}

// hostLine is a line of a node's resolv.conf, of those that mean nothing, too.
func hostLine() *rapid.Generator[string] {
	gap := rapid.SampledFrom([]string{" ", "  ", "\t", " \t "})
	return rapid.Custom(func(t *rapid.T) string {
		var values []string
		keyword := rapid.SampledFrom([]string{"nameserver", "nameserver", "search", "search", "options", "domain", "sortlist", "#", ";", "#nameserver", "Search", ""}).Draw(t, "keyword")
		switch keyword {
		case "nameserver":
			values = some(0, 2, "10.1.1.10", "10.1.1.11", "fe80::1%eth0", "10.1.1.12", "10.1.1.13").Draw(t, "addresses")
			if len(values) == 0 && rapid.IntRange(0, 9).Draw(t, "spared") > 0 {
				values = []string{"10.1.1.10"}
			}
		case "options":
			values = some(0, 4, "ndots:1", "ndots:", "ndots", "edns0", "timeout:2", ":", "a:b:c", "#x").Draw(t, "options")
		default:
			values = domains().Draw(t, "domains")
		}
		line := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent") + keyword
		for _, value := range values {
			line += gap.Draw(t, "gap") + value
		}
		return line + rapid.SampledFrom([]string{"", " ", "\r"}).Draw(t, "end")
	})
}
