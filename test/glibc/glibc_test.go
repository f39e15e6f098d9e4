// Package glibc compares the queries that Signpost says a lookup costs with those
// that glibc's own resolver sends to a nameserver, in a network of their own.
package glibc

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const resolvConf = "/etc/resolv.conf"

// requireSaid has glibc look a name up, and expects it to ask what is said.
func requireSaid(t require.TestingT, s *server, settings intent.PodDNSConfig, name string) {
	require.NoError(t, os.WriteFile(resolvConf, []byte(resolvconf.Text(settings)), 0o600))
	out, err := exec.Command("getent", "ahosts", name).CombinedOutput()
	if err != nil {
		require.Empty(t, out, "getent: %v", err) // the name was not found
	}
	require.Equal(t, resolvconf.Queries(settings, name), s.taken())
}

func TestGlibcSendsTheQueriesThatAreSaid(t *testing.T) {
	s := serve(t)
	const clusterFirst = "default.svc.cluster.local svc.cluster.local cluster.local foo.com"
	for _, c := range []struct{ reason, searches, options, name string }{
		{"a short name", clusterFirst, "ndots:5", "service123"},
		{"a name with dots", clusterFirst, "ndots:5", "www.example.com"},
		{"as many dots as ndots", clusterFirst, "ndots:5", "a.b.c.d.e.example"},
		{"a dot at the end", clusterFirst, "ndots:5", "www.example.com."},
		{"a short name with a dot at the end", clusterFirst, "ndots:5", "service123."},
		{"the root", clusterFirst, "ndots:5", "."},
		{"ndots overridden", clusterFirst, "ndots:1", "www.example.com"},
		{"ndots by default", "foo.com", "", "www.example.com"},
		{"no search", "", "ndots:5", "service123"},
		{"nothing at all", "", "", "www.example.com"},
		{"the root among searches", "foo.com . bar.com", "ndots:5", "www.example.com"},
		{"a search with a dot in front", ".foo.com", "", "web"},
		{"a search with a dot at the end", "foo.com.", "", "web"},
		{"a search twice", "foo.com foo.com", "", "web"},
		{"33 searches", strings.Repeat("a.example ", 33), "", "web"},
		{"ndots:0", "foo.com", "ndots:0", "web"},
		{"ndots over 15", "foo.com", "ndots:99", strings.Repeat("a.", 15) + "example"},
		{"ndots below 0", "foo.com", "ndots:-1", "a.b.example"},
		{"ndots that is not a number", "foo.com", "ndots:many", "web"},
		{"ndots without a number", "foo.com", "ndots", "web"},
		{"no AAAA", clusterFirst, "ndots:5 no-aaaa", "web"},
		{"names without dots are not asked for as they are", "foo.com", "no-tld-query", "web"},
		{"nor with the other spelling", "foo.com", "no_tld_query", "web"},
		{"but with dots", "foo.com", "no-tld-query ndots:2", "web.example"},
		{"or without searches", "", "no-tld-query", "web"},
		{"no attempts", "foo.com", "attempts:0", "web"},
		{"one attempt", "foo.com", "attempts:1", "web"},
		{"one query at a time", clusterFirst, "ndots:5 single-request", "web"},
		{"over TCP", clusterFirst, "ndots:5 use-vc", "web"},
		{"an address", clusterFirst, "", "192.0.2.1"},
		{"an address in two parts", clusterFirst, "", "10.1"},
		{"a number", clusterFirst, "", "0x7f000001"},
		{"an octal number that is none", clusterFirst, "", "08"},
		{"four parts, one too great", clusterFirst, "", "192.0.2.256"},
		{"five parts", clusterFirst, "", "1.2.3.4.5"},
		{"an IPv6 address", clusterFirst, "", "2001:db8::1"},
		{"a label over 63", clusterFirst, "", strings.Repeat("x", 64)},
		{"a label of 63", clusterFirst, "", strings.Repeat("x", 63)},
		{"a name of 253", clusterFirst, "", strings.Repeat("x.", 126) + "x"},
		{"a name of 254", clusterFirst, "", strings.Repeat("x.", 126) + "xx"},
		{"an empty label", clusterFirst, "", "a..b"},
		{"no room for the first search", strings.Repeat("y.", 100) + "example foo.com", "", strings.Repeat("x.", 40) + "example"},
		{"nor for the first search, and then it is asked for as it is", strings.Repeat("y.", 100) + "example foo.com", "ndots:15", strings.Repeat("xxxxxx.", 12) + "example"},
		{"autopath", "search.default.cluster.local.ap.k8s.io", "ndots:5", "service123"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			settings := intent.PodDNSConfig{Nameservers: []string{nameserver}, Searches: strings.Fields(c.searches)}
			for _, text := range strings.Fields(c.options) {
				settings.Options = append(settings.Options, option(text))
			}
			requireSaid(t, s, settings, c.name)
		})
	}
}

func option(text string) intent.PodDNSOption {
	name, value, valued := strings.Cut(text, ":")
	if !valued {
		return intent.PodDNSOption{Name: name}
	}
	return intent.PodDNSOption{Name: name, Value: &value}
}

func TestGlibcSendsTheQueriesThatAreSaidOfRandomNames(t *testing.T) {
	s := serve(t)
	rapid.Check(t, func(t *rapid.T) {
		requireSaid(t, s, settings().Draw(t, "settings"), names().Draw(t, "name"))
	})
}

// settings ask the server that notes, with anything that changes what is asked,
// and some that does not.
func settings() *rapid.Generator[intent.PodDNSConfig] {
	long := strings.Repeat(strings.Repeat("x", 61)+".", 3) + "example"
	searches := []string{"default.svc.cluster.local", "svc.cluster.local", "a.example", "b.example.", ".c.example", ".", long, "_x.example"}
	options := []string{"ndots", "attempts", "timeout", "no-aaaa", "no-tld-query", "no_tld_query", "single-request", "use-vc", "edns0", "trust-ad", "rotate", "no-aaaargh", "nonsense"}
	values := rapid.Ptr(rapid.SampledFrom([]string{"0", "1", "2", "3", "5", "15", "16", "-1", "2x", "x"}), true)
	return rapid.Custom(func(t *rapid.T) intent.PodDNSConfig {
		c := intent.PodDNSConfig{
			Nameservers: []string{nameserver},
			Searches:    rapid.SliceOfN(rapid.SampledFrom(searches), 0, 7).Draw(t, "searches"),
		}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(options), 0, 4).Draw(t, "options") {
			c.Options = append(c.Options, intent.PodDNSOption{Name: name, Value: values.Draw(t, "value")})
		}
		return c
	})
}

// names are names of up to seven labels, or what is none.
func names() *rapid.Generator[string] {
	labels := rapid.SampledFrom([]string{"web", "service123", "example", "com", "1", "08", "0x1f", "255", "256", strings.Repeat("l", 60), strings.Repeat("l", 64), ""})
	return rapid.Custom(func(t *rapid.T) string {
		name := strings.Join(rapid.SliceOfN(labels, 1, 7).Draw(t, "labels"), ".")
		return name + rapid.SampledFrom([]string{"", "", "", "."}).Draw(t, "end")
	}).Filter(func(name string) bool { return name != "" })
}
