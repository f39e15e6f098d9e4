package corefile_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

// walkingStatic has the search domains of two namespaces.
func walkingStatic() corefile.Config {
	c := example()
	c.Static = &corefile.Static{Namespaces: []string{"shop", "batch"}, Suffixes: []string{"corp.example", "svc.cluster.local"}, Directory: "/etc/coredns"}
	return c
}

// walkingOption has search paths come in an option.
func walkingOption() corefile.Config {
	c := example()
	c.Expand = &corefile.Expand{Suffixes: []string{"corp.example"}}
	return c
}

// A search path that is another one already would be asked twice.
func TestSearchFilesHaveTheSearchDomainAndEachPathOnce(t *testing.T) {
	require.Equal(t, map[string]string{
		"search-batch.conf": "search search.batch.cluster.local.ap.k8s.io batch.svc.cluster.local svc.cluster.local cluster.local corp.example\n",
		"search-shop.conf":  "search search.shop.cluster.local.ap.k8s.io shop.svc.cluster.local svc.cluster.local cluster.local corp.example\n",
	}, corefile.SearchFiles(walkingStatic()))
	require.Empty(t, corefile.SearchFiles(walkingOption()))
	require.Empty(t, corefile.SearchFiles(example()))
}

func TestBuildNodeCache(t *testing.T) {
	c := corefile.NodeCache{
		LocalIP: netip.MustParseAddr("169.254.20.10"), Upstream: "DNS_DEFAULT_SERVICE_HOST", LogLevel: corefile.Debug,
		SearchPath: &corefile.SearchPath{Suffixes: []string{"corp.example"}},
	}
	text, err := corefile.BuildNodeCache(c)
	require.NoError(t, err)
	require.Equal(t, `.:53 {
    bind 169.254.20.10
    errors
    log . {
        class denial error
    }
    health 169.254.20.10:8080 {
        lameduck 5s
    }
    prometheus :9253
    cache {
        success 9984 30
        denial 9984 5
    }
    searchpath cluster.local {
        suffixes /etc/resolv.conf corp.example
        option 65001
    }
    forward . {$DNS_DEFAULT_SERVICE_HOST} {
        force_tcp
    }
    loop
    reload
}
`, text)
	c.SearchPath, c.LocalIP = nil, netip.MustParseAddr("fd00::10")
	text, err = corefile.BuildNodeCache(c)
	require.NoError(t, err)
	require.NotContains(t, text, "searchpath", "stock CoreDNS takes it")
	require.Contains(t, text, "health [fd00::10]:8080 {\n")
}

// No other word than the name of a variable becomes a reference to the
// environment.
func TestTheEnvironmentIsReferredToByNamesAlone(t *testing.T) {
	for _, variable := range []string{"", "a", "A-B", "A} {$B", "A\nimport /etc/passwd", "A B", `A"`} {
		_, err := corefile.BuildNodeCache(corefile.NodeCache{LocalIP: netip.MustParseAddr("169.254.20.10"), Upstream: variable})
		require.ErrorContains(t, err, "is not a single word", variable)
	}
	for _, suffix := range []string{"{$HOME}", "a b", ""} {
		_, err := corefile.BuildNodeCache(corefile.NodeCache{LocalIP: netip.MustParseAddr("169.254.20.10"), Upstream: "A", SearchPath: &corefile.SearchPath{Suffixes: []string{suffix}}})
		require.ErrorContains(t, err, "is not a single word", suffix)
	}
	c := walkingStatic()
	for _, domain := range []string{`a" "b`, `a\`, "a\nb", "a{$HOME}b"} {
		c.ClusterDomain = domain
		_, err := corefile.Build(c)
		require.ErrorContains(t, err, "is not a single word", domain)
	}
}

func TestFollowTellsThatSearchPathsAreWalked(t *testing.T) {
	const looked = "the search paths of namespace shop are walked: web.shop.svc.cluster.local, web.svc.cluster.local, web.cluster.local, web.corp.example, and at last web are looked up, each on its own way, until one is there"
	require.Equal(t, corefile.Way{Server: "search.shop.cluster.local.ap.k8s.io:5353", Plugin: "autopath", Why: []string{looked}},
		corefile.Follow(walkingStatic(), query("web.search.shop.cluster.local.ap.k8s.io")))
	require.Equal(t, corefile.Way{Server: ".:5353", Plugin: "searchexpand", Why: []string{looked,
		"the cache of a node asks for web instead, with these search paths and the node's own in an EDNS0 option",
	}}, corefile.Follow(walkingOption(), query("web.search.shop.cluster.local.ap.k8s.io")))
}

func TestFollowTellsWhatElseIsInTheZoneOfSearchDomains(t *testing.T) {
	io := corefile.Server{Zones: []string{"io"}, Forward: corefile.Forward{Upstreams: upstreams("9.9.9.9:53")}}
	static, option := walkingStatic(), walkingOption()
	static.Servers, option.Servers = append(static.Servers, io), append(option.Servers, io)
	for _, c := range []struct {
		reason         string
		config         corefile.Config
		name           string
		server, plugin string
	}{
		{"a namespace that is not in use", static, "web.search.other.cluster.local.ap.k8s.io", "ap.k8s.io:5353", "template"},
		{"another cluster", static, "web.search.shop.berlin.example.ap.k8s.io", "ap.k8s.io:5353", "template"},
		{"the zone", static, "ap.k8s.io", "ap.k8s.io:5353", "template"},
		{"a search domain itself", static, "search.shop.cluster.local.ap.k8s.io", "ap.k8s.io:5353", "template"},
		{"a search domain of every namespace", option, "web.search.other.cluster.local.ap.k8s.io", "io:5353", "searchexpand"},
		{"a search domain itself has no records", option, "search.shop.cluster.local.ap.k8s.io", "io:5353", "searchexpand"},
		{"a search domain in a search domain does not leave the cluster", option, "a.ap.k8s.io.search.shop.cluster.local.ap.k8s.io", "io:5353", "searchexpand"},
		{"the zone does not leave the cluster", option, "ap.k8s.io", "io:5353", "searchexpand"},
		{"another cluster's does not leave the cluster", option, "web.search.shop.berlin.example.ap.k8s.io", "io:5353", "searchexpand"},
		{"a name that ends alike", static, "trap.k8s.io", "io:5353", "forward"},
		{"without autopath it is a zone as any", example(), "web.search.shop.cluster.local.ap.k8s.io", ".:5353", "forward"},
	} {
		way := corefile.Follow(c.config, query(c.name))
		require.Equal(t, c.server, way.Server, c.reason)
		require.Equal(t, c.plugin, way.Plugin, c.reason)
		require.NotEmpty(t, way.Why, c.reason)
	}
	const exists, missing = "it exists, and has no records", "it does not exist"
	for name, want := range map[string]string{
		"ap.k8s.io": exists, "local.ap.k8s.io": exists, "shop.cluster.local.ap.k8s.io": exists, "search.shop.cluster.local.ap.k8s.io": exists,
		"x.ap.k8s.io": missing, "search.shop.berlin.example.ap.k8s.io": missing, "a.ap.k8s.io.search.shop.cluster.local.ap.k8s.io": missing,
	} {
		require.Contains(t, corefile.Follow(option, query(name)).Why[0], want, name)
		if want == exists {
			require.Contains(t, corefile.Follow(static, query(name)).Why[0], want, name)
		}
	}
	require.Contains(t, corefile.Follow(static, query("other.cluster.local.ap.k8s.io")).Why[0], missing, "of no namespace in use")
	way := corefile.Follow(static, corefile.Query{Name: "web.search.shop.cluster.local.ap.k8s.io", Type: "DS"})
	require.Equal(t, "io:5353", way.Server, "DS is asked for where the parent may be")
}
