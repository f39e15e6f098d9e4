package clusterdns

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

const (
	dnsPort    = 53  // of nameservers, and of the CoreDNS that imports
	dnsOverTLS = 853 // of nameservers that speak TLS

	caDirectory = "/etc/coredns-ca" // holds a directory per ConfigMap
	caKey       = "ca-bundle.crt"

	chaosZone = "hostname.bind" // tells which pod answers

	systemResolvers = "SystemResolvConf"
	systemMost      = 3 // nameservers that Kubernetes lets a pod have
	network         = "Network"
)

// Configure is the configuration of CoreDNS that an intent asks for in one cluster.
// Settings that cannot work there are an intent.Error, code Invalid, with pointers into
// the intent. A document that was admitted fails only for the cluster's domain, which it
// does not contain.
func Configure(d plan.ClusterDNS) (corefile.Config, error) {
	r, err := read(d)
	return r.config, err
}

// reading is what an intent says about one cluster.
type reading struct {
	config    corefile.Config
	bundles   []string            // ConfigMaps with CA bundles, in order, each once
	nodeCache *corefile.NodeCache // nil: there is none
}

// read is Configure, with what belongs to it.
func read(d plan.ClusterDNS) (reading, error) {
	r := reader{ClusterDNS: d, domain: domainOf(d), zones: map[string]bool{}}
	out := reading{
		config: corefile.Config{
			ClusterDomain: r.domain,
			Servers:       append(r.forwardPlugins(), r.servers()...),
			Resolvers:     r.resolvers(),
			Cache:         r.cache(),
			LogLevel:      r.logLevel(),
			Expand:        r.expand(),
			Static:        r.static(),
		},
		nodeCache: r.nodeCache(),
	}
	r.searchDomains()
	if d.Spec.Mode == intent.Import {
		out.config.Port = dnsPort
	}
	if n := length(out.config); len(r.fields) == 0 && n > longestFiles {
		r.wrong("/spec", "makes a Corefile of "+strconv.Itoa(n)+" bytes, with the files beside it, but a ConfigMap holds "+strconv.Itoa(longestFiles)+"; name fewer zones or, with autopath, fewer searches, clients or namespaces, which each server repeats")
	}
	if len(r.fields) > 0 {
		return reading{}, &intent.Error{Code: intent.Invalid, Detail: "the DNS CR intent " + d.Intent + " cannot work on " + d.Cluster, Fields: r.fields}
	}
	slices.Sort(r.bundles)
	out.bundles = slices.Compact(r.bundles)
	return out, nil
}

// longestFiles is how many bytes a ConfigMap holds, less what its metadata may
// take of the 1 MiB of an object.
const longestFiles = 1_000_000

// length is that of the Corefile and the files beside it; 0 where it cannot be
// written, which Render tells.
func length(c corefile.Config) int {
	text, err := corefile.Build(c)
	if err != nil {
		return 0
	}
	total := len(text)
	for _, file := range corefile.SearchFiles(c) {
		total += len(file)
	}
	return total
}

// reader reads an intent, and notes what is wrong with it.
type reader struct {
	plan.ClusterDNS
	domain  string
	zones   map[string]bool // that servers have so far
	bundles []string        // ConfigMaps
	fields  []intent.Field
}

// wrong notes it once, however often it is read.
func (r *reader) wrong(pointer, detail string) {
	field := intent.Field{Pointer: pointer, Detail: detail}
	if !slices.Contains(r.fields, field) {
		r.fields = append(r.fields, field)
	}
}

// canonical is a domain name in lower case, without a dot at the end.
func canonical(domain string) string { return strings.TrimSuffix(strings.ToLower(domain), ".") }

// choose finds a word among those that there are, in any letter case; the
// empty one is the first.
func choose[W ~string](r *reader, pointer, word string, all ...W) W {
	if word == "" {
		return all[0]
	}
	names := make([]string, len(all))
	for i, w := range all {
		if strings.EqualFold(word, string(w)) {
			return w
		}
		names[i] = string(w)
	}
	r.wrong(pointer, strconv.Quote(word)+" is none of "+strings.Join(names, ", "))
	return all[0]
}

func (r *reader) logLevel() corefile.LogLevel {
	return choose(r, "/spec/logLevel", r.Spec.LogLevel, corefile.Normal, corefile.Debug, corefile.Trace)
}

// forwardPlugins are the servers in the seed's form.
func (r *reader) forwardPlugins() []corefile.Server {
	if r.Spec.PluginConfig == nil {
		return nil
	}
	var servers []corefile.Server
	for i, plugin := range r.Spec.PluginConfig.ForwardPlugins {
		at := "/spec/pluginConfig/forwardPlugins/" + strconv.Itoa(i)
		servers = append(servers, corefile.Server{
			Zones: []string{r.zone(at+"/domain", plugin.Domain)},
			Forward: corefile.Forward{
				Upstreams: r.nameservers(at+"/nameservers", plugin.Nameservers, dnsPort),
				Policy:    choose(r, at+"/policy", plugin.Policy, corefile.Random, corefile.RoundRobin, corefile.Sequential),
			},
		})
	}
	return servers
}

// servers are those in today's form.
func (r *reader) servers() []corefile.Server {
	var servers []corefile.Server
	for i, s := range r.Spec.Servers {
		at := "/spec/servers/" + strconv.Itoa(i)
		server := corefile.Server{Name: s.Name}
		for n, zone := range s.Zones {
			server.Zones = append(server.Zones, r.zone(at+"/zones/"+strconv.Itoa(n), zone))
		}
		if len(s.Zones) == 0 {
			r.wrong(at+"/zones", "name at least one zone")
		}
		forward, at := s.ForwardPlugin, at+"/forwardPlugin"
		secure := r.tls(at+"/transportConfig", forward.TransportConfig)
		server.Forward = corefile.Forward{
			Upstreams: r.nameservers(at+"/upstreams", forward.Upstreams, port(secure)),
			Policy:    choose(r, at+"/policy", forward.Policy, corefile.Random, corefile.RoundRobin, corefile.Sequential),
			TLS:       secure,
			ForceTCP:  r.forceTCP(at+"/protocolStrategy", forward.ProtocolStrategy),
		}
		servers = append(servers, server)
	}
	return servers
}

// zone is a server's, which nobody else may have.
func (r *reader) zone(pointer, text string) string {
	zone := canonical(text)
	switch {
	case zone == "" || within(chaosZone, zone):
		r.wrong(pointer, strconv.Quote(text)+" is the default server's: name a domain of your own")
	case within(r.domain, zone):
		r.wrong(pointer, text+" holds the cluster's own domain "+r.domain+", whose names the cluster would no longer answer; name a domain outside of it")
	case within(zone, r.domain) && r.Spec.NodeResolver != nil && r.Spec.Mode != intent.Import:
		r.wrong(pointer, text+" lies in the cluster's own domain "+r.domain+", so its nameservers could choose the entries that nodeResolver writes to each node's /etc/hosts; name a domain outside of it, or remove nodeResolver")
	case r.Spec.Autopath != nil && within(zone, autopath.Zone):
		r.wrong(pointer, text+" lies in "+autopath.Zone+", the zone of search domains; name a domain outside of it, or remove autopath")
	case r.zones[zone]:
		r.wrong(pointer, text+" already has a server: name each zone once")
	}
	r.zones[zone] = true
	return zone
}

// within tells whether a domain is a zone's or lies in it.
func within(domain, zone string) bool { return domain == zone || strings.HasSuffix(domain, "."+zone) }

func (r *reader) nameservers(pointer string, all []string, port uint16) []netip.AddrPort {
	if n := len(all); n == 0 || n > corefile.MaxUpstreams {
		r.wrong(pointer, "there are "+strconv.Itoa(n)+" nameservers: give 1 to "+strconv.Itoa(corefile.MaxUpstreams))
	}
	var out []netip.AddrPort
	for i, text := range all {
		at, ok := nameserver(text, port)
		if !ok {
			r.wrong(pointer+"/"+strconv.Itoa(i), strconv.Quote(text)+" is not a nameserver: write IP, IP:port or [IPv6]:port")
		}
		out = append(out, at)
	}
	return out
}

// nameserver reads an address, with a port or with the default one.
func nameserver(text string, port uint16) (netip.AddrPort, bool) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(address, port), address.Zone() == ""
	}
	at, err := netip.ParseAddrPort(text)
	return at, err == nil && at.Port() != 0 && at.Addr().Zone() == ""
}

// port is the default one of nameservers.
func port(secure *corefile.TLS) uint16 {
	if secure != nil {
		return dnsOverTLS
	}
	return dnsPort
}

func (r *reader) tls(pointer string, transport *intent.TransportConfig) *corefile.TLS {
	const cleartext, secure = "Cleartext", "TLS"
	if transport == nil || choose(r, pointer+"/transport", transport.Transport, cleartext, secure) == cleartext {
		return nil
	}
	if transport.TLS == nil || transport.TLS.ServerName == "" {
		r.wrong(pointer+"/tls/serverName", "is missing: TLS needs the server name in the nameservers' certificates")
		return nil
	}
	out := &corefile.TLS{ServerName: canonical(transport.TLS.ServerName)}
	if bundle := transport.TLS.CABundle; bundle != nil {
		out.CAFile = path.Join(caDirectory, bundle.Name, caKey)
		r.bundles = append(r.bundles, bundle.Name)
		if r.Spec.Mode == intent.Import {
			r.wrong(pointer+"/tls/caBundle", "cannot be given in mode import, because Signpost does not manage that CoreDNS: remove it, or use mode dedicated")
		}
	}
	return out
}

func (r *reader) forceTCP(pointer, strategy string) bool {
	return strategy != "" && choose(r, pointer, strategy, "TCP") == "TCP"
}

// resolvers are the last resort: the node's own, unless there are others.
func (r *reader) resolvers() corefile.Resolvers {
	u := r.Spec.UpstreamResolvers
	if u == nil {
		return corefile.Resolvers{}
	}
	const at = "/spec/upstreamResolvers"
	secure := r.tls(at+"/transportConfig", u.TransportConfig)
	out := corefile.Resolvers{System: len(u.Upstreams) == 0, Forward: corefile.Forward{
		Policy:   choose(r, at+"/policy", u.Policy, corefile.Sequential, corefile.Random, corefile.RoundRobin),
		TLS:      secure,
		ForceTCP: r.forceTCP(at+"/protocolStrategy", u.ProtocolStrategy),
	}}
	for i, upstream := range u.Upstreams {
		one := at + "/upstreams/" + strconv.Itoa(i)
		if choose(r, one+"/type", upstream.Type, systemResolvers, network) == systemResolvers {
			if !out.System {
				out.System, out.SystemAfter = true, len(out.Upstreams)
			}
			continue
		}
		out.Upstreams = append(out.Upstreams, r.upstream(one, upstream, port(secure)))
	}
	most := corefile.MaxUpstreams
	if out.System {
		most -= systemMost
	}
	if n := len(out.Upstreams); n > most {
		r.wrong(at+"/upstreams", "there are "+strconv.Itoa(n)+" of type "+network+": give at most "+strconv.Itoa(most)+" beside those of the system")
	}
	if out.System && secure != nil {
		r.wrong(at+"/transportConfig", systemResolvers+" does not support TLS: name only upstreams of type "+network)
	}
	return out
}

func (r *reader) upstream(pointer string, u intent.Upstream, port uint16) netip.AddrPort {
	address, err := netip.ParseAddr(u.Address)
	if err != nil || address.Zone() != "" {
		r.wrong(pointer+"/address", strconv.Quote(u.Address)+" is not an IP address")
	}
	const highest = 1<<16 - 1
	if u.Port < 0 || u.Port > highest {
		r.wrong(pointer+"/port", strconv.Itoa(u.Port)+" is not a port: give 1 to "+strconv.Itoa(highest))
	}
	return netip.AddrPortFrom(address, cmp.Or(uint16(u.Port), port)) //nolint:gosec // judged above
}

func (r *reader) cache() corefile.Cache {
	if r.Spec.Cache == nil {
		return corefile.Cache{}
	}
	return corefile.Cache{
		Positive: r.duration("/spec/cache/positiveTTL", r.Spec.Cache.PositiveTTL),
		Negative: r.duration("/spec/cache/negativeTTL", r.Spec.Cache.NegativeTTL),
	}
}

// duration reads whole seconds; none is 0, which is the default, as OpenShift
// writes it.
func (r *reader) duration(pointer, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d%time.Second != 0 {
		r.wrong(pointer, strconv.Quote(text)+" is not a time in whole seconds: write it as in 1h30m")
	}
	return d
}
