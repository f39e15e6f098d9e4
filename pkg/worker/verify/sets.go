package verify

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

type nameKey struct{ name, kind string }

// given is what a DNSEndpoint gives to its names, ordered by name and type. There are very many DNSEndpoints with one name,
// for which maps would take several times the memory.
type given []namedSets

type namedSets struct {
	nameKey
	sets sets
}

// sets are the targets of a name and type, ordered by set identifier.
type sets []set

type set struct {
	id      string
	targets []string
}

// get answers what is given to a name, nil for nothing.
func (g given) get(key nameKey) sets {
	if at, found := g.find(key); found {
		return g[at].sets
	}
	return nil
}

func (g given) find(key nameKey) (int, bool) {
	return slices.BinarySearchFunc(g, key, func(n namedSets, key nameKey) int { return compareNames(n.nameKey, key) })
}

// with adds targets of a set of a name.
func (g given) with(key nameKey, id string, targets ...string) given {
	at, found := g.find(key)
	if !found {
		g = slices.Insert(g, at, namedSets{nameKey: key})
	}
	g[at].sets = g[at].sets.with(id, targets)
	return g
}

func (s sets) with(id string, targets []string) sets {
	at, found := slices.BinarySearchFunc(s, id, func(one set, id string) int { return strings.Compare(one.id, id) })
	if !found {
		s = slices.Insert(s, at, set{id: id})
	}
	s[at].targets = append(s[at].targets, targets...)
	return s
}

// namesOf are what a DNSEndpoint publishes, with targets as servers answer them.
func namesOf(p *bundle.Published) given {
	if p == nil {
		return nil
	}
	out := make(given, 0, len(p.Names))
	for _, n := range p.Names {
		key := nameKey{n.Name, n.Type}
		out = out.with(key, n.ID)
		for _, target := range n.Targets {
			out = out.with(key, n.ID, answered(n.Type, target))
		}
	}
	return out
}

// answered is how servers answer a target.
func answered(kind, target string) string {
	if kind == "TXT" {
		return externaldns.ReadText(target)
	}
	return strings.TrimSuffix(target, ".")
}

// all are the targets of all sets, ordered.
func (s sets) all() []string {
	var out []string
	for _, one := range s {
		out = append(out, one.targets...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
