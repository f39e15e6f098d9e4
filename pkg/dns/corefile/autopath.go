package corefile

import (
	"cmp"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

// Expand has every server walk the search paths in the EDNS0 option of a query. If the
// query has no option, those of its search domain count. It needs a CoreDNS with the
// plugin searchexpand.
type Expand struct {
	Option   uint16         // code of the option; 0: 65001
	Suffixes []string       // canonical domains: paths of search domains behind the cluster's own
	Clients  []netip.Prefix // that may send the option; none: everybody
}

// Static has stock CoreDNS walk the search paths of some namespaces. Each search domain
// gets a server, and a file with its paths.
type Static struct {
	Namespaces []string // in any order
	Suffixes   []string // canonical domains: paths behind the cluster's own
	Directory  string   // path of the files in the container
}

// staticTTL is how long an answer about a name in a search domain stands, for
// another name may come to stand before it. At most half a minute, as for names
// that are not there.
const staticTTL = 30 * time.Second

// option is the code of the EDNS0 option, as words.
func option(code uint16) directive {
	code = cmp.Or(code, autopath.Option)
	return line("option", strconv.Itoa(int(code)))
}

// expand is the plugin searchexpand, where there is one.
func expand(c Config) []directive {
	if c.Expand == nil {
		return nil
	}
	d := line("searchexpand", c.domain()).with(option(c.Expand.Option))
	if len(c.Expand.Suffixes) > 0 {
		d = d.with(line(append([]string{"suffixes"}, c.Expand.Suffixes...)...))
	}
	if len(c.Expand.Clients) > 0 {
		allow := line("allow")
		for _, client := range c.Expand.Clients {
			allow.words = append(allow.words, client.String())
		}
		d = d.with(allow)
	}
	return []directive{d}
}

// SearchFiles are the files that the servers of search domains read, by name.
// There are none without Static.
func SearchFiles(c Config) map[string]string {
	files := map[string]string{}
	if c.Static == nil {
		return files
	}
	for _, namespace := range c.Static.namespaces() {
		domains := append([]string{autopath.SearchDomain(namespace, c.domain())}, autopath.Paths(namespace, c.domain(), c.Static.Suffixes...)...)
		files[searchFile(namespace)] = "search " + strings.Join(domains, " ") + "\n"
	}
	return files
}

func searchFile(namespace string) string { return "search-" + namespace + ".conf" }

func (s Static) namespaces() []string {
	return slices.Compact(slices.Sorted(slices.Values(s.Namespaces)))
}

// searchBlocks are the servers of search domains, and the server for all other names in
// their zone, which do not exist.
func searchBlocks(c Config) []block {
	if c.Static == nil {
		return nil
	}
	var blocks []block
	for _, namespace := range c.Static.namespaces() {
		blocks = append(blocks, searchBlock(c, namespace))
	}
	return append(blocks, block{
		keys: []string{key(autopath.Zone, c.port())},
		plugins: []directive{
			metrics(metricsPort), line("errors"), log(c.LogLevel), bufsize(),
			line("template", "ANY", "ANY", autopath.Zone).with(exactly(c.Static.ancestors(c.domain())), line("rcode", "NOERROR"), authority(), line("fallthrough")),
			line("template", "ANY", "ANY", autopath.Zone).with(line("rcode", "NXDOMAIN"), authority()),
		},
	})
}

// ancestors of the search domains, from the zone itself on: they exist, for names
// exist below them (RFC 8020).
func (s Static) ancestors(clusterDomain string) []string {
	all := []string{autopath.Zone}
	labels := strings.Split(clusterDomain, ".")
	for i := range labels {
		all = append(all, strings.Join(labels[len(labels)-1-i:], ".")+"."+autopath.Zone)
	}
	for _, namespace := range s.namespaces() {
		all = append(all, namespace+"."+clusterDomain+"."+autopath.Zone)
	}
	return all
}

// exists tells whether a name is an ancestor of a search domain, or one itself.
func (s Static) exists(name, clusterDomain string) bool {
	_, namespace, _ := autopath.Split(name, clusterDomain)
	return slices.Contains(s.ancestors(clusterDomain), name) ||
		slices.Contains(s.Namespaces, namespace) && name == autopath.SearchDomain(namespace, clusterDomain)
}

// exactly takes these names of a template's zone, each of which is in it.
func exactly(names []string) directive {
	pattern := strings.ReplaceAll(strings.Join(names, "|"), ".", "[.]")
	return line("match").and(quoted("^(" + pattern + ")[.]$"))
}

// nowhere is a name that does not exist.
const nowhere = "none." + autopath.Zone

// searchBlock walks the paths of a namespace. The name as it came is looked up first. Its
// answer counts if no path has the name: it is there, and leads to one that is not. After
// a plain NXDOMAIN a resolver would ask again, without the search domain, for what was
// looked up already. The other names are asked of the server that each belongs to, in
// this CoreDNS. The search domain itself is in no search path, and stock autopath fails
// for it: it has no records, as the namespace's name above it.
func searchBlock(c Config, namespace string) block {
	domain := autopath.SearchDomain(namespace, c.domain())
	_, parent, _ := strings.Cut(domain, ".")
	itself := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), c.port())
	return block{
		keys: []string{key(domain, c.port())},
		plugins: []directive{
			metrics(metricsPort), line("errors"), log(c.LogLevel), bufsize(),
			line("rewrite", "stop", "name", "exact", domain, parent),
			line("rewrite", "stop", "rcode", "suffix", domain, "NXDOMAIN", "NOERROR"),
			line("autopath", ".", path.Join(c.Static.Directory, searchFile(namespace))),
			line("template", "ANY", "ANY", domain).with(
				line("rcode", "NXDOMAIN"),
				line("answer").and(quoted("{{ .Name }} "+seconds(staticTTL)+" IN CNAME "+nowhere+".")),
				authority(),
			),
			forward(Forward{}, []string{itself.String()}),
			cache(Cache{Positive: staticTTL, Negative: staticTTL}),
		},
	}
}

// authority tells caches how long a name that is not there is not.
func authority() directive {
	ttl := seconds(staticTTL)
	return line("authority").and(quoted(fmt.Sprintf("%[1]s %[2]s IN SOA ns.dns.%[1]s hostmaster.%[1]s 1 7200 1800 86400 %[2]s", autopath.Zone+".", ttl)))
}
