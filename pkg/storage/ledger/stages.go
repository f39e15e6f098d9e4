package ledger

import (
	"cmp"
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

// Stages are those of a change up to when it was written.
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

// storedStages are the stages as an entry holds them (ADR 0087).
type storedStages struct {
	Observed *int64     `json:"observed,omitempty"` // nanoseconds before it was written, as those that follow; nil: it is not known
	Seen     *int64     `json:"seen,omitempty"`
	Decided  *int64     `json:"decided,omitempty"`
	Written  *time.Time `json:"written,omitempty"` // nil: Since of the entry
}

// stored are the stages as an entry holds them that is so since then.
func (s Stages) stored(since time.Time) *storedStages {
	written := cmp.Or(s.written, nanoseconds(since))
	before := func(at int64) *int64 {
		if at == 0 {
			return nil
		}
		took := written - at
		return &took
	}
	out := &storedStages{Observed: before(s.observed), Seen: before(s.seen), Decided: before(s.decided)}
	if written != nanoseconds(since) {
		at := instant(written)
		out.Written = &at
	}
	return out
}

// stages are those of stored.
func (s storedStages) stages(since time.Time) *Stages {
	if s.Written != nil {
		since = *s.Written
	}
	written := nanoseconds(since)
	at := func(took *int64) int64 {
		if took == nil {
			return 0
		}
		return written - *took
	}
	return &Stages{Decision{observed: at(s.Observed), seen: at(s.Seen), decided: at(s.Decided)}, written}
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
