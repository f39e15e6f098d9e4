package corefile

import (
	"net/netip"
	"time"
)

// NodeCache configures the DNS cache of a node, which asks the cluster's DNS
// over TCP.
type NodeCache struct {
	LocalIP       netip.Addr // that it listens on, port 53
	ClusterDomain string     // empty: cluster.local
	Upstream      string     // name of the environment variable that holds the address of the cluster's DNS
	LogLevel      LogLevel
	SearchPath    *SearchPath // nil: it walks none
}

// SearchPath has the cache send the search paths of pods along in an EDNS0
// option. It takes a CoreDNS with the plugin searchpath.
type SearchPath struct {
	Option   uint16   // code of the option; 0: 65001
	Suffixes []string // canonical domains: paths behind the cluster's own and the node's
}

// Ports of a node's cache.
const (
	CacheHealthPort  = 8080 // at LocalIP alone
	CacheMetricsPort = 9253 // not that of DNS pods, which others may have put on the node's network

	cachePort = 53
)

// How long a node keeps an answer at most, on top of what the cluster's DNS does.
const (
	nodeTTL    = 30 * time.Second
	nodeDenial = 5 * time.Second
)

// BuildNodeCache writes the whole Corefile of a node's cache. It fails on values
// that no check should have let through.
func BuildNodeCache(c NodeCache) (string, error) {
	health := netip.AddrPortFrom(c.LocalIP, CacheHealthPort)
	plugins := []directive{
		line("bind", c.LocalIP.String()),
		line("errors"),
		log(c.LogLevel),
		line("health", health.String()).with(line("lameduck", "5s")),
		metrics(CacheMetricsPort),
		cache(Cache{Positive: nodeTTL, Negative: nodeDenial}),
	}
	if c.SearchPath != nil {
		domain := Config{ClusterDomain: c.ClusterDomain}.domain()
		suffixes := append([]string{"suffixes", systemResolvers}, c.SearchPath.Suffixes...)
		plugins = append(plugins, line("searchpath", domain).with(line(suffixes...), option(c.SearchPath.Option)))
	}
	plugins = append(plugins,
		line("forward", ".").and(environment(c.Upstream)).with(line("force_tcp")),
		line("loop"),
		line("reload"),
	)
	return text([]block{{keys: []string{key(".", cachePort)}, plugins: plugins}})
}
