package ledger

import (
	"encoding/json"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Decision is the stages of a change before it is written. There may be very many objects that have them, so that they
// take little in memory.
type Decision struct{ observed, seen, decided int64 } // in Unix nanoseconds; 0: not known

// DecisionOf are the stages before a change is written.
func DecisionOf(s intent.Stages) Decision {
	return Decision{observed: nanoseconds(s.Observed), seen: nanoseconds(s.Seen), decided: nanoseconds(s.Decided)}
}

// Times are the stages as times.
func (d Decision) Times() intent.Stages {
	return intent.Stages{Observed: instant(d.observed), Seen: instant(d.seen), Decided: instant(d.decided)}
}

// Stages are those of a change up to when it was written. They are stored as intent.Stages.
type Stages struct {
	Decision

	written int64
}

// StagesOf are the stages up to when a change was written.
func StagesOf(s intent.Stages) Stages { return Stages{DecisionOf(s), nanoseconds(s.Written)} }

// Times are the stages as times.
func (s Stages) Times() intent.Stages {
	times := s.Decision.Times()
	times.Written = instant(s.written)
	return times
}

// MarshalJSON implements json.Marshaler.
func (s Stages) MarshalJSON() ([]byte, error) { return json.Marshal(s.Times()) }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Stages) UnmarshalJSON(raw []byte) error {
	var times intent.Stages
	err := json.Unmarshal(raw, &times)
	*s = StagesOf(times)
	return err
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
