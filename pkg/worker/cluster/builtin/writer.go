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

// wishes are what the DNSEndpoints of a publisher give, by name. A change costs as much as
// the DNSEndpoints that change have names.
type wishes struct {
	objects map[bundle.ID]held                              // as they were taken up
	given   map[string]map[bundle.ID][]bundle.PublishedName // what each DNSEndpoint says of a name
	sets    map[string][]publisher.Set                      // what each name is to have, never empty
}

func newWishes() wishes {
	return wishes{objects: map[bundle.ID]held{}, given: map[string]map[bundle.ID][]bundle.PublishedName{}, sets: map[string][]publisher.Set{}}
}

// take takes up objects that have changed, nil for those that have gone, and answers the names whose sets have changed.
func (w *wishes) take(objects map[bundle.ID]*held) []string {
	touched := map[string]bool{}
	for id, now := range objects {
		before, known := w.objects[id]
		if known && now != nil && before.revision == now.revision {
			continue
		}
		w.drop(id, touched)
		if now != nil {
			w.add(*now, touched)
		}
	}
	var changed []string
	for name := range touched {
		before, now := w.sets[name], w.fold(name)
		if len(now) == 0 {
			delete(w.sets, name)
		} else {
			w.sets[name] = now
		}
		if !same(before, now) {
			changed = append(changed, name)
		}
	}
	return changed
}

// add takes up an object, and touches its names.
func (w *wishes) add(now held, touched map[string]bool) {
	id := now.object.ID
	w.objects[id] = now
	if now.object.Published == nil {
		return
	}
	for _, n := range now.object.Published.Names {
		touched[n.Name] = true
		if w.given[n.Name] == nil {
			w.given[n.Name] = map[bundle.ID][]bundle.PublishedName{}
		}
		w.given[n.Name][id] = append(w.given[n.Name][id], n)
	}
}

// drop forgets an object, and touches its names.
func (w *wishes) drop(id bundle.ID, touched map[string]bool) {
	before := w.objects[id]
	delete(w.objects, id)
	if before.object.Published == nil {
		return
	}
	for _, n := range before.object.Published.Names {
		touched[n.Name] = true
		delete(w.given[n.Name], id)
		if len(w.given[n.Name]) == 0 {
			delete(w.given, n.Name)
		}
	}
}

// fold are the sets of a name. Targets of one type that several DNSEndpoints give are
// published together, as external-dns does.
func (w *wishes) fold(name string) []publisher.Set {
	var sets []publisher.Set
	for _, id := range slices.SortedFunc(maps.Keys(w.given[name]), bundle.Compare) {
		for _, n := range w.given[name][id] {
			sets = add(sets, n, publisher.Resource(id.Namespace, id.Name))
		}
	}
	for n := range sets {
		slices.Sort(sets[n].Targets)
		sets[n].Targets = slices.Compact(sets[n].Targets)
	}
	slices.SortFunc(sets, func(a, b publisher.Set) int { return strings.Compare(a.Type, b.Type) })
	return withoutAlias(sets)
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
