package corefile

import (
	"cmp"
	"net/netip"
	"time"
)

// Limits and defaults.
const (
	MaxUpstreams  = 15              // of one forward, as in CoreDNS
	DefaultPort   = 5353            // that servers listen on
	DefaultDomain = "cluster.local" // of a cluster

	defaultTTL    = 900 * time.Second // of answers in the cache
	defaultDenial = 30 * time.Second  // of negative answers in the cache
	cacheEntries  = 9984              // CoreDNS' own default
)

// Config configures one CoreDNS: servers that forward the queries of some
// zones, and the default server, which answers for the cluster and forwards
// everything else.
type Config struct {
	Port          uint16    // that every server listens on; 0: 5353
	ClusterDomain string    // empty: cluster.local
	Servers       []Server  // in any order; their zones must differ
	Resolvers     Resolvers // of the names that no server has a zone for
	Cache         Cache     // of every server
	LogLevel      LogLevel  // of every server

	Expand *Expand // search paths that the plugin searchexpand walks; nil: none
	Static *Static // search paths that stock CoreDNS walks; nil: none
}

// Server forwards the queries of its zones.
type Server struct {
	Name    string   // is a comment in the Corefile; may be empty
	Zones   []string // canonical domain names: lower case, no dot at the end
	Forward Forward
}

// Forward says where queries go.
type Forward struct {
	Upstreams []netip.AddrPort // 1 to 15; the port is never 0
	Policy    Policy           // empty: Random
	TLS       *TLS             // nil: plain DNS
	ForceTCP  bool             // also where UDP would do
}

// TLS is DNS over TLS.
type TLS struct {
	ServerName string // that upstreams' certificates are for
	CAFile     string // path of the CA bundle in the container; empty: those of the system
}

// Resolvers are the last resort. None: the node's own, of /etc/resolv.conf.
type Resolvers struct {
	Forward

	// System adds the nameservers of /etc/resolv.conf, behind as many of the
	// upstreams as SystemAfter says.
	System      bool
	SystemAfter int // 0: before all of them
}

// Cache says how long answers are kept.
type Cache struct {
	Positive time.Duration // 0: 15 minutes; whole seconds
	Negative time.Duration // 0: 30 seconds; whole seconds
}

// Policy is the order in which upstreams are tried.
type Policy string

// The policies, spelled as in OpenShift's API.
const (
	Random     Policy = "Random"
	RoundRobin Policy = "RoundRobin"
	Sequential Policy = "Sequential"
)

// directive is the policy as CoreDNS spells it.
func (p Policy) directive() string {
	switch p {
	case RoundRobin:
		return "round_robin"
	case Sequential:
		return "sequential"
	}
	return "random"
}

// LogLevel says which queries are logged.
type LogLevel string

// The log levels, spelled as in OpenShift's API.
const (
	Normal LogLevel = "Normal" // those that failed
	Debug  LogLevel = "Debug"  // and those for names that do not exist
	Trace  LogLevel = "Trace"  // all
)

// classes are what the log plugin calls the answers that a level logs.
func (l LogLevel) classes() []string {
	switch l {
	case Debug:
		return []string{"denial", "error"}
	case Trace:
		return []string{"all"}
	}
	return []string{"error"}
}

func (c Config) port() uint16 { return cmp.Or(c.Port, DefaultPort) }

func (c Config) domain() string { return cmp.Or(c.ClusterDomain, DefaultDomain) }
