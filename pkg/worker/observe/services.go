package observe

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

const (
	// lookupEvery is how often host names that are due are looked for.
	lookupEvery = 25 * time.Second

	// resyncEvery is how often all Services are looked at, whether or not anybody told that they have changed.
	resyncEvery = 30 * time.Minute
)

// turns are what the observer knows of when to look at which Services.
type turns struct {
	moved    int64           // changes of the index that have been taken up
	lookedUp time.Time       // when host names that are due were looked for last
	resync   time.Time       // when all are to be looked at
	left     map[string]bool // "namespace/name" of those that nobody may ask for any more, and that are to be forgotten
}

// services writes what the Services offer that are due.
func (o *Observer) services(ctx context.Context) error {
	watches := o.cluster.Watches() // they put all on the agenda when they begin
	for _, service := range o.due(o.cluster.Clock.Now()) {
		namespace, name, _ := strings.Cut(service, "/")
		if !o.cluster.Index.Asks(o.cluster.Name, namespace, name) {
			o.turns.left[service] = true
			continue
		}
		if watches == nil {
			continue
		}
		observation, known := watches.Service(namespace, name)
		if !known || !o.lookups.Resolve(ctx, service, &observation) {
			continue
		}
		observation.Changed = o.cluster.Clock.Now().UTC()
		if err := o.writer.SetService(ctx, namespace, name, observation); err != nil {
			o.cluster.Looks.AddAll() // those that follow have not had their turn
			return err
		}
	}
	return nil
}

// due answers the Services that are to be looked at, in order, and takes them off the agenda. They were told of, or
// somebody has begun or ceased to ask for them. Their host names are to be looked up, or they count as ready from now on.
func (o *Observer) due(now time.Time) []string {
	of, index, t := o.cluster.Name, o.cluster.Index, &o.turns
	told, all := o.cluster.Looks.Take()
	renamed, moved, unsure := index.Renamed(of, t.moved)
	t.moved = moved
	if all || unsure || !now.Before(t.resync) {
		t.resync = now.Add(resyncEvery)
		due := index.Services(of)
		add(due, o.writer.Services())
		return slices.Sorted(maps.Keys(due))
	}
	due := map[string]bool{}
	add(due, renamed)
	add(due, o.writer.Risen(now))
	if now.Sub(t.lookedUp) >= lookupEvery {
		t.lookedUp = now
		add(due, o.lookups.Due())
	}
	for id := range told {
		o.expand(id, due)
	}
	return slices.Sorted(maps.Keys(due))
}

// expand adds the Service that an entry of the agenda names, or those of its namespace.
func (o *Observer) expand(id bundle.ID, due map[string]bool) {
	if id.Name == "" {
		o.cluster.Index.ServicesIn(o.cluster.Name, id.Namespace, due)
		return
	}
	if o.cluster.Index.Asks(o.cluster.Name, id.Namespace, id.Name) {
		due[id.Namespace+"/"+id.Name] = true
	}
}

func add(set map[string]bool, all []string) {
	for _, one := range all {
		set[one] = true
	}
}

// unasked lists the keys of what is to be forgotten: Services that nobody asks for any more, and other placements than
// those of the index.
func (o *Observer) unasked() []string {
	of, index, left := o.cluster.Name, o.cluster.Index, o.turns.left
	for service := range left {
		if namespace, name, _ := strings.Cut(service, "/"); index.Asks(of, namespace, name) {
			delete(left, service)
		}
	}
	keys := o.writer.Unasked(maps.Keys(left), index.Placements(of))
	if len(keys) == 0 {
		clear(left)
	}
	return keys
}
