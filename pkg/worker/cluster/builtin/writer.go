package builtin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// Open makes the writer of a provider, as its settings say.
type Open func(ctx context.Context, settings bundle.Publisher) (publisher.Writer, error)

// wanted are the sets of all names of the DNSEndpoints. Targets of one name and type that
// several DNSEndpoints give are published together, as external-dns does.
func wanted(objects []held) map[string][]publisher.Set {
	out := map[string][]publisher.Set{}
	for _, o := range objects {
		if o.object.Published == nil {
			continue
		}
		resource := publisher.Resource(o.object.Namespace, o.object.Name)
		for _, n := range o.object.Published.Names {
			out[n.Name] = add(out[n.Name], n, resource)
		}
	}
	for name, sets := range out {
		for n := range sets {
			slices.Sort(sets[n].Targets)
			sets[n].Targets = slices.Compact(sets[n].Targets)
		}
		slices.SortFunc(sets, func(a, b publisher.Set) int { return strings.Compare(a.Type, b.Type) })
		out[name] = withoutAlias(sets)
	}
	return out
}

// add adds the targets of a name to those of its type. The first TTL stays, and the first
// DNSEndpoint of the name.
func add(sets []publisher.Set, n bundle.PublishedName, resource string) []publisher.Set {
	if len(sets) > 0 {
		resource = sets[0].Mark.Resource
	}
	at := slices.IndexFunc(sets, func(s publisher.Set) bool { return s.Type == n.Type })
	if at < 0 {
		return append(sets, publisher.Set{
			Name: n.Name, Type: n.Type, TTL: n.TTL, Targets: slices.Clone(n.Targets), Mark: publisher.Mark{Resource: resource},
		})
	}
	sets[at].TTL = cmp.Or(sets[at].TTL, n.TTL)
	sets[at].Targets = append(sets[at].Targets, n.Targets...)
	return sets
}

// withoutAlias drops a CNAME beside addresses, which DNS does not allow.
func withoutAlias(sets []publisher.Set) []publisher.Set {
	address := func(s publisher.Set) bool { return s.Type == "A" || s.Type == "AAAA" }
	if slices.ContainsFunc(sets, address) {
		return slices.DeleteFunc(sets, func(s publisher.Set) bool { return s.Type == "CNAME" })
	}
	return sets
}

// same tells whether two lists of sets are equal, in their order.
func same(a, b []publisher.Set) bool {
	return slices.EqualFunc(a, b, func(x, y publisher.Set) bool { return publisher.SameRecords(x, y) && x.Mark == y.Mark })
}

// differing are the names whose sets differ from those that were written, and those that
// are to go, ordered.
func differing(want, done map[string][]publisher.Set, recorded map[string][]publisher.Set) []string {
	names := map[string]bool{}
	for name, sets := range want {
		if have, known := done[name]; !known || !same(have, sets) {
			names[name] = true
		}
	}
	for name := range recorded {
		if _, still := want[name]; !still {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
