package release

import (
	"bytes"
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// Fold is what has come of FoldService.
type Fold struct {
	Whole bool      // only a step of the whole group can do it
	Wrote bool      // DNSEndpoints were changed
	Due   time.Time // when other addresses may be chosen though nothing else is; zero: never
}

// FoldService brings the DNSEndpoints of one Service ("namespace/name") of a
// group to what its clusters were last seen to offer, as StepGroup would bring
// all of the group's. What it costs does not grow with the group: nothing else
// is read than the DNSEndpoints, the observations, and the revisions of the
// documents that all follows from. Where one of those has changed since this
// replica's last step of the whole group, DNSEndpoints come or go, or a name would
// be left without addresses, a whole step is due, and nothing is written.
func (s *Service) FoldService(ctx context.Context, group intent.Path, service string) (Fold, error) {
	const tries = 2 // who has lost a race finds it done, or what it is about gone
	for range tries {
		fold, err := s.tryFold(ctx, group, service)
		if intent.CodeOf(err) != appcontext.ErrStale {
			return fold, err
		}
	}
	return Fold{Whole: true}, nil
}

func (s *Service) tryFold(ctx context.Context, group intent.Path, service string) (Fold, error) {
	on := s.grounds.get(group)
	if on == nil || len(on.bindings[service]) == 0 { // another replica may know more
		return Fold{Whole: true}, nil
	}
	if same, err := s.holds(ctx, on); err != nil || !same {
		return Fold{Whole: true}, err
	}
	held, err := s.Contexts.Held(ctx, on.pointer.ContextID, on.places(service))
	if err != nil {
		return Fold{}, err
	}
	var read []kv.Compare
	var latest time.Time
	c, err := on.refill(ctx, service, held.Objects, s.noted(on, &read, &latest))
	if err != nil {
		return Fold{}, err
	}
	changed, same := updated(held.Objects, c.objects)
	if !same || len(c.lost) > 0 || len(read) > mostCompared {
		return Fold{Whole: true}, nil
	}
	if len(changed) > 0 {
		within, end := s.Tracer.Start(ctx, "follow addresses", "owner", string(group), "service", service)
		err = s.Contexts.Replace(within, on.pointer, held, read, changed, appcontext.Touch{Service: service, Cause: s.cause(latest)})
		end(err)
	}
	return Fold{Wrote: len(changed) > 0, Due: c.due}, err
}

// mostCompared is how many observations a fold may follow from: each is
// compared when it is written.
const mostCompared = kv.MaxOps / 2

// places are where the DNSEndpoints of a Service are.
func (on *ground) places(service string) []appcontext.Place {
	var out []appcontext.Place
	for _, n := range on.bindings[service] {
		b := on.group.Bindings[n]
		out = append(out, appcontext.Place{App: b.App, ID: endpoints.ID(on.group, b)})
	}
	return out
}

// refill renders the bindings of one Service, as fill does those of the group.
func (on *ground) refill(ctx context.Context, service string, before bundle.Bundle, look look) (contents, error) {
	c := contents{services: map[string][]string{}}
	for _, n := range on.bindings[service] {
		b := on.group.Bindings[n]
		if err := c.choose(ctx, on.group, b, on.records[b.Record], on.drained, before, look); err != nil {
			return c, err
		}
	}
	err := c.publish(ctx, on.group, before, look)
	if err != nil {
		return c, err
	}
	c.objects, err = bundle.Collect(c.objects)
	return c, err
}

// cause is when the latest observation was made that a change follows from; zero
// when it is so old that something else must have led to the change.
func (s *Service) cause(latest time.Time) time.Time {
	const recently = 5 * time.Minute
	if s.Now().Sub(latest) > recently {
		return time.Time{}
	}
	return latest
}

// noted is what was observed, with what compares that it still is, and the time
// of the latest change.
func (s *Service) noted(on *ground, read *[]kv.Compare, latest *time.Time) look {
	seen := s.seen(on.group)
	seen.service = func(ctx context.Context, _ string, service address.Service) (*address.Observation, error) {
		if inventory(on.group, service.Cluster) {
			return nil, nil // nobody but EMCO's monitor could tell
		}
		found, err := s.Observed.Service(ctx, service)
		if err != nil {
			return nil, err
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
