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
	// againEvery is how often Services are looked at again of which nothing was known, and host names that are due are
	// looked up.
	againEvery = 5 * time.Second

	// resyncEvery is how often all Services are looked at, whether or not anybody told that they have changed. It is
	// less by up to resyncSpread, by the cluster, so that not all clusters have their turn at once.
	resyncEvery  = 30 * time.Minute
	resyncSpread = 5 * time.Minute
)

// turns are what the observer knows of when to look at which Services, each as "namespace/name".
type turns struct {
	moved   int64           // changes of the index that have been taken up
	last    time.Time       // when Services had their turn last
	again   time.Time       // when those of unknown had their turn last
	unknown map[string]bool // of which nothing was known when they were looked at
	resync  time.Time       // when all are to be looked at
	found   map[string]bool // that the last look at all found to be others, unless somebody tells of them yet
	left    map[string]bool // that nobody may ask for any more, and that are to be forgotten
}

func newTurns() turns {
	return turns{moved: -1, unknown: map[string]bool{}, found: map[string]bool{}, left: map[string]bool{}}
}

// services writes what the Services offer that are due.
func (o *Observer) services(ctx context.Context) error {
	o.turns.last = o.cluster.Clock.Now()
	due, others := o.due(ctx, o.turns.last)
	watches := o.cluster.Watches() // they put all on the agenda when they begin
	for _, service := range due {
		namespace, name, _ := strings.Cut(service, "/")
		delete(o.turns.unknown, service)
		if !o.cluster.Index.Asks(o.cluster.Name, namespace, name) {
			o.turns.left[service] = true
			continue
		}
		if watches == nil {
			continue
		}
		observation, known := watches.Service(namespace, name)
		if !known || !o.lookups.Resolve(ctx, service, &observation) {
			o.turns.unknown[service] = true
			continue
		}
		observation.Changed = o.cluster.Clock.Now().UTC()
		before := o.writer.Writes()
		if err := o.writer.SetService(ctx, namespace, name, observation); err != nil {
			o.cluster.Looks.AddAll() // those that follow have not had their turn
			return err
		}
		if others[service] && o.writer.Writes() != before {
			o.turns.found[service] = true
		}
	}
	return nil
}

// due answers the Services that are to be looked at, in order, and takes them off the agenda. They were told of, or
// somebody has begun or ceased to ask for them. Or they count as ready from now on, or nothing was known of them. Others
// are those among them that have no such reason: all have their turn.
func (o *Observer) due(ctx context.Context, now time.Time) (due []string, others map[string]bool) {
	of, index, t := o.cluster.Name, o.cluster.Index, &o.turns
	told, all := o.cluster.Looks.Take()
	renamed, moved, unsure := index.Renamed(of, t.moved)
	t.moved = moved
	o.count(told, all)
	set := map[string]bool{}
	add(set, renamed)
	add(set, o.writer.Risen(now))
	if now.Sub(t.again) >= againEvery {
		t.again = now
		o.lookups.Refresh(ctx)
		maps.Copy(set, t.unknown)
	}
	for id := range told {
		o.expand(id, set)
	}
	if resync := !now.Before(t.resync); all || unsure || resync {
		t.resync = now.Add(resyncEvery - time.Duration(o.cluster.Fence.ModRevision)*time.Second%resyncSpread)
		every := index.Services(of)
		add(every, o.writer.Services())
		if !all && !unsure {
			others = maps.Clone(every)
			maps.DeleteFunc(others, func(service string, _ bool) bool { return set[service] || t.unknown[service] })
		}
		set = every
	}
	return slices.Sorted(maps.Keys(set)), others
}

// count counts the Services of which nobody told, though the last look at all found that they offer something else.
func (o *Observer) count(told map[bundle.ID]bool, all bool) {
	for service := range o.turns.found {
		namespace, name, _ := strings.Cut(service, "/")
		if !all && !told[bundle.ID{Namespace: namespace, Name: name}] && !told[bundle.ID{Namespace: namespace}] {
			o.cluster.Metrics.Missed()
		}
	}
	clear(o.turns.found)
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
