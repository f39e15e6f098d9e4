package corefile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

// followSearch tells which way a query for a name in a search domain takes; not
// ok when it goes the way of all names.
func followSearch(c Config, q Query) (way Way, ok bool) {
	if !within(q.Name, autopath.Zone) {
		return Way{}, false
	}
	server, zone := match(c, q)
	switch {
	case c.Static != nil && (server == nil || q.Type != "DS"):
		return followStatic(c, q), true
	case c.Expand != nil:
		return followExpand(c, q, cmp.Or(zone, ".")), true
	}
	return Way{}, false
}

// followExpand is the way through the plugin searchexpand of the server that
// gets the query.
func followExpand(c Config, q Query, zone string) Way {
	w := &Way{Server: key(zone, c.port()), Plugin: "searchexpand"}
	base, namespace, ok := autopath.Split(q.Name, c.domain())
	switch {
	case autopath.Exists(q.Name, c.domain()):
		w.stands(q.Name)
		return *w
	case !ok || within(base, autopath.Zone):
		w.because("%s is in no search domain of the cluster: it does not exist", q.Name)
		return *w
	}
	w.walks(base, namespace, autopath.Paths(namespace, c.domain(), c.Expand.Suffixes...))
	w.because("the cache of a node asks for %s instead, with these search paths and the node's own in an EDNS0 option", base)
	return *w
}

// followStatic is the way through the servers of search domains.
func followStatic(c Config, q Query) Way {
	w := &Way{Server: key(autopath.Zone, c.port()), Plugin: "template"}
	base, namespace, ok := autopath.Split(q.Name, c.domain())
	switch {
	case c.Static.exists(q.Name, c.domain()):
		w.stands(q.Name)
	case !ok || !slices.Contains(c.Static.Namespaces, namespace):
		w.because("%s is in no search domain of a namespace whose search paths are walked: it does not exist", q.Name)
	default:
		w.Server, w.Plugin = key(autopath.SearchDomain(namespace, c.domain()), c.port()), "autopath"
		w.walks(base, namespace, autopath.Paths(namespace, c.domain(), c.Static.Suffixes...))
	}
	return *w
}

// stands tells of a name that is there for the names below it.
func (w *Way) stands(name string) {
	w.because("%s is a search domain or an ancestor of one: it exists, and has no records", name)
}

// walks tells which names are looked up.
func (w *Way) walks(base, namespace string, paths []string) {
	var names []string
	for _, path := range paths {
		names = append(names, base+"."+path)
	}
	w.because("the search paths of namespace %s are walked: %s, and at last %s are looked up, each on its own way, until one is there", namespace, strings.Join(names, ", "), base)
}
