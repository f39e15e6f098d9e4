package release

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Appointments are when the controller was asked to look at owners, other than at
// once. It is not asked any more.
func (s *Service) Appointments() map[intent.Path]time.Time {
	all := map[intent.Path]time.Time{}
	s.Wakeups.Listen(func(n state.Wakeup) {
		if !n.At.IsZero() {
			all[n.Owners[0]] = n.At
		}
	})
	s.Wakeups.Listen(nil)
	return all
}
