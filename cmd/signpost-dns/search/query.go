package search

import (
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/autopath"
)

const zone = autopath.Zone + "."

// InZone tells whether a message is a query for a name in the zone of search
// domains. It allocates nothing, for it sees every message.
func InZone(r *dns.Msg) bool {
	return r.Opcode == dns.OpcodeQuery && len(r.Question) == 1 && IsInZone(r.Question[0].Name)
}

// IsInZone tells whether a name, which ends with a dot, is in that zone.
func IsInZone(name string) bool {
	above := len(name) - len(zone)
	return above >= 0 && strings.EqualFold(name[above:], zone) && (above == 0 || name[above-1] == '.')
}

// Searchable tells whether a message is a query for records of one name, of the
// class and of a type that resolvers search for.
func Searchable(r *dns.Msg) bool {
	if r.Opcode != dns.OpcodeQuery || len(r.Question) != 1 || r.Question[0].Qclass != dns.ClassINET {
		return false
	}
	switch r.Question[0].Qtype {
	case dns.TypeAXFR, dns.TypeIXFR, dns.TypeOPT, dns.TypeTSIG, dns.TypeTKEY:
		return false
	}
	return true
}

// Domain is a cluster's domain and what its nodes search besides.
type Domain struct {
	Name     string   // as in cluster.local
	Suffixes []string // host suffixes, without those that the domain implies
}

// Split divides a name that ends with a dot into the name that was asked for,
// with its dot, and the search paths that are to be appended. ok is false for
// names in no search domain of the cluster; base is empty for a search domain.
func (d *Domain) Split(name string) (base string, paths []string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	base, namespace, ok := autopath.Split(name, d.Name)
	if !ok {
		return "", nil, false
	}
	// A dot within a label, written \., is none that Split may divide at.
	domain := autopath.SearchDomain(namespace, d.Name)
	if base != "" && dns.CountLabel(base+".")+dns.CountLabel(domain+".") != dns.CountLabel(name+".") {
		return "", nil, false
	}
	paths, ok = d.Paths(namespace)
	if base != "" {
		base += "."
	}
	return base, paths, ok
}

// Paths are the search paths of a namespace, each once; ok is false for what
// no namespace is called.
func (d *Domain) Paths(namespace string) (paths []string, ok bool) {
	paths = autopath.Paths(namespace, d.Name)
	own, err := autopath.Decode(autopath.Encode(paths[:1]))
	if err != nil || len(own) != 1 {
		return nil, false
	}
	for _, suffix := range d.Suffixes {
		if !slices.Contains(paths, suffix) {
			paths = append(paths, suffix)
		}
	}
	return paths, true
}

// Exists tells whether a name of the zone, which ends with a dot, is a search
// domain of the cluster or an ancestor of one.
func (d *Domain) Exists(name string) bool {
	name = strings.ToLower(name)
	parent := d.Name + "." + zone
	if dns.IsSubDomain(name, parent) {
		return true
	}
	if namespace, rest, _ := strings.Cut(name, "."); rest == parent {
		_, ok := d.Paths(namespace)
		return ok
	}
	base, _, ok := d.Split(name)
	return ok && base == ""
}

// Names are what a name may mean: it with each path appended, and at last it as
// it is. All end with a dot; names that are too long are left out.
func Names(base string, paths []string) []string {
	names := make([]string, 0, len(paths)+1)
	for _, path := range paths {
		if name := base + path + "."; isName(name) {
			names = append(names, name)
		}
	}
	return append(names, base)
}

func isName(name string) bool {
	_, ok := dns.IsDomainName(name)
	return ok
}
