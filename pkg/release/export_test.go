package release

import (
	"context"
	"maps"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// Appointments are when the controller was asked to look at owners, other than at
// once. It is not asked any more.
func (s *Service) Appointments() map[intent.Path]time.Time {
	all := map[intent.Path]time.Time{}
	for {
		select {
		case n := <-s.Enqueued:
			if !n.At.IsZero() {
				all[n.Owner] = n.At
			}
		default:
			return all
		}
	}
}

// GrantCurrent grants what current releases use, as the controller does.
func (s *Service) GrantCurrent(ctx context.Context) error { return s.Keeper.GrantCurrent(ctx) }

// Saw has the Service know of a cluster that does not answer for as long as the
// cluster's owner counts.
func (s *Service) Saw(cluster string, r observed.Reachability) {
	s.Renderer.Health.Mu.Lock()
	defer s.Renderer.Health.Mu.Unlock()
	next := maps.Clone(s.Renderer.Health.Sighted)
	if next == nil {
		next = map[string]render.Sighting{}
	}
	next[cluster] = render.Sighting{Silent: r.Since, Counted: r.Counted, As: r}
	s.Renderer.Health.Sighted = next
}
