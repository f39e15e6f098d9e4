package verify

import (
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// AskedAgain tells of a name that its authoritative servers have not answered since it changed.
const AskedAgain = "the name has changed since its authoritative servers answered, and they are being asked again"

// OfBefore tells whether a verdict is of before the last change of a name that is wanted now. A verdict on a name that
// was leaving is, and so is any but Matches if a server was asked before the change. A zero time of the change tells of none.
func (v Verdict) OfBefore(changed time.Time, said []intent.Answer) bool {
	switch v {
	case Gone, StillThere:
		return true
	case Matches:
		return false
	}
	asked := Asked(said)
	return !asked.IsZero() && asked.Before(changed)
}

// Asked is when the first of the servers was asked, in UTC; zero if that is not known.
func Asked(said []intent.Answer) time.Time {
	if len(said) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(said, func(a, b intent.Answer) int { return a.At.Compare(b.At) }).At
}
