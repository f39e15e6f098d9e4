package render

import (
	"bytes"
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// Selection is what has come of FoldService.
type Selection struct {
	Whole bool      // only a step of the whole group can do it
	Wrote bool      // DNSEndpoints were changed
	Due   time.Time // when other addresses may be chosen though nothing else is; zero: never
}

// ReconcileService brings the DNSEndpoints of one Service ("namespace/name") of a group
// to the offers of its clusters. StepGroup would bring all of the group's. Its cost does
// not grow with the group. It reads only the DNSEndpoints, the observations, and the
// revisions of the documents that all follows from. A whole step is due, and nothing is
// written, in three cases. A document has changed since this replica's last step of the
// whole group, DNSEndpoints come or go, or a name would lose its last address.
func (s *Renderer) ReconcileService(ctx context.Context, group intent.Path, service string) (Selection, error) {
	const tries = 2 // who has lost a race finds it done, or what it is about gone
	for range tries {
		fold, err := s.trySelect(ctx, group, service)
		if intent.CodeOf(err) != appcontext.ErrStale {
			return fold, err
		}
	}
	return Selection{Whole: true}, nil
}

func (s *Renderer) trySelect(ctx context.Context, group intent.Path, service string) (Selection, error) {
	on := s.Inputs.following(group, service)
	if on == nil { // another replica may know more
		return Selection{Whole: true}, nil
	}
	if same, err := s.holds(ctx, on); err != nil || !same {
		return Selection{Whole: true}, err
	}
	held, err := s.Contexts.Held(ctx, on.pointer.ContextID, on.places())
	if err != nil {
		return Selection{}, err
	}
	began := s.Now().UTC()
	var read []kv.Compare
	var latest time.Time
	c, err := on.refill(ctx, held.Objects, s.noted(on, &read, &latest))
	if err != nil {
		return Selection{}, err
	}
	changed, same := updated(held.Objects, c.Objects)
	if !same || len(c.lost) > 0 || len(read) > mostCompared {
		return Selection{Whole: true}, nil
	}
	if len(changed) > 0 {
		within, end := s.Tracer.Start(ctx, "follow addresses", "owner", string(group), "service", service)
		err = s.Contexts.Replace(within, on.pointer, held, read, changed, appcontext.Touch{Service: service, Cause: s.cause(latest), Seen: began})
		end(err)
		if err == nil {
			state.RecordNames(s.Names, turning{owner: group, now: s.Now().UTC(), list: on.Drained, contents: c}.between(held.Objects, c.Objects))
		}
	}
	return Selection{Wrote: len(changed) > 0, Due: c.due}, err
}

// mostCompared is how many observations a selection may follow from: each is
// compared when it is written.
const mostCompared = kv.MaxOps / 2

// places are where the DNSEndpoints of the bindings are.
func (on *Inputs) places() []appcontext.Place {
	var out []appcontext.Place
	for _, b := range on.Group.Bindings {
		out = append(out, appcontext.Place{App: b.App, ID: endpoints.ID(on.Group, b)})
	}
	return out
}

// refill renders the bindings of one Service, as Render does those of the group.
func (on *Inputs) refill(ctx context.Context, before bundle.Bundle, look Sources) (Contents, error) {
	c, now := Contents{services: map[string][]string{}}, &past{objects: before, group: on.Group}
	for _, b := range on.Group.Bindings {
		if err := c.choose(ctx, on.Group, b, on.Records[b.Record], on.Drained.Clusters, now, look); err != nil {
			return c, err
		}
	}
	err := c.publish(ctx, on.Group, now, look)
	if err != nil {
		return c, err
	}
	c.Objects, err = bundle.Collect(c.Objects)
	return c, err
}

// cause is the time of the latest observation behind a change. It is zero if that is so
// old that something else must have led to the change.
func (s *Renderer) cause(latest time.Time) time.Time {
	const recently = 5 * time.Minute
	if s.Now().Sub(latest) > recently {
		return time.Time{}
	}
	return latest
}

// noted is what was observed, with what compares that it still is, and the time
// of the latest change.
func (s *Renderer) noted(on *Inputs, read *[]kv.Compare, latest *time.Time) Sources {
	seen, known := s.ObservedSources(on.Group), map[address.Service]*observed.Service{}
	seen.partly = true
	seen.ahead = func(ctx context.Context, b plan.Binding) error { return s.readAhead(ctx, on.Group, b, known) }
	seen.service = func(_ context.Context, _ string, service address.Service) (*address.Observation, error) {
		found := known[service]
		if inventory(on.Group, service.Cluster) {
			return nil, nil // nobody but an orchestrator could tell
		}
		if found == nil {
			*read = append(*read, kv.Compare{Key: observed.ServiceKey(service)})
			return nil, nil
		}
		*read = append(*read, found.Compare())
		if found.Changed.After(*latest) {
			*latest = found.Changed
		}
		return &found.Observation, nil
	}
	return seen
}

// updated are the objects that differ; same says that they are the same objects
// as before.
func updated(before, after bundle.Bundle) (changed []bundle.Object, same bool) {
	if len(before) != len(after) {
		return nil, false
	}
	for n, o := range after {
		if before[n].ID != o.ID {
			return nil, false
		}
		if !bytes.Equal(before[n].JSON, o.JSON) {
			changed = append(changed, o)
		}
	}
	return changed, true
}
