package state

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Stages are those of a change that come before it is written. There may be very many objects that have them, so that they
// take little.
type Stages struct{ observed, seen, decided int64 } // in Unix nanoseconds; 0: not known

// StagesOf are the stages before a change is written.
func StagesOf(s intent.Stages) Stages {
	return Stages{observed: nanoseconds(s.Observed), seen: nanoseconds(s.Seen), decided: nanoseconds(s.Decided)}
}

// Times are the stages as times.
func (s Stages) Times() intent.Stages {
	return intent.Stages{Observed: instant(s.observed), Seen: instant(s.seen), Decided: instant(s.decided)}
}

func nanoseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

func instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}
