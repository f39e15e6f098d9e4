package release

import (
	"context"
	"maps"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/observed"
)

// Appointments are when the controller was asked to look at owners, other than at
// once. It is not asked any more.
func (s *Service) Appointments() map[intent.Path]time.Time {
	all := map[intent.Path]time.Time{}
	for {
		select {
		case n := <-s.nudge:
			if !n.at.IsZero() {
				all[n.owner] = n.at
			}
		default:
			return all
		}
	}
}

// KeepOutlook has the Service know how all clusters can be reached, as the
// controller does.
func (s *Service) KeepOutlook(ctx context.Context) error { return s.keepOutlook(ctx) }

// NoteClaimed looks whether all names of releases have claims, as the controller
// does.
func (s *Service) NoteClaimed(ctx context.Context) error { return s.noteClaimed(ctx) }

// PlantTree puts names into the tree that were claimed before there was one, as the
// controller does.
func (s *Service) PlantTree(ctx context.Context) error { return s.plantTree(ctx) }

// GrantCurrent grants what current releases use, as the controller does.
func (s *Service) GrantCurrent(ctx context.Context) error { return s.grantCurrent(ctx) }

// Saw has the Service know of a cluster that does not answer for as long as the
// cluster's owner counts.
func (s *Service) Saw(cluster string, r observed.Reachability) {
	s.outlook.mu.Lock()
	defer s.outlook.mu.Unlock()
	next := maps.Clone(s.outlook.sighted)
	if next == nil {
		next = map[string]sighting{}
	}
	next[cluster] = sighting{silent: r.Since, counted: r.Counted, as: r}
	s.outlook.sighted = next
}
