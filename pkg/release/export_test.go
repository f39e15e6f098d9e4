package release

import (
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
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
