package externaldns

import (
	"slices"
	"strings"
	"time"
)

// Pace says how often an external-dns looks where its record does not.
type Pace struct {
	Events   bool          // also when a DNSEndpoint changes
	Interval time.Duration // between two synchronizations; zero: external-dns' own default
}

// readShare is one in how many of a provider's limited requests external-dns may use to
// read a zone, because the account has other users.
const readShare = 10

// zoneRequests is the number of requests that list the zones of a provider before their
// names.
const zoneRequests = 2

// PaceOf is the pace that suits a provider. If reading the zone is cheap, external-dns
// wakes up for changes. Otherwise it looks as often as the provider's limits allow for
// the size of the zone. The size is the number of names that external-dns reads there.
// Zero means unknown, and leaves the interval to external-dns. The provider's extra
// arguments win.
func PaceOf(provider string, extraArgs []string, size int) Pace {
	row := loadTable().provider(provider)
	told := slices.ContainsFunc(extraArgs, func(arg string) bool { return strings.TrimPrefix(flagName(arg), "no-") == "events" })
	return Pace{Events: row.speed.cheap && !told, Interval: row.interval(size)}
}

// interval is the shortest interval that keeps reading a zone of that size within the
// share of the provider's limit. It grows in steps, so that a name more or less changes
// nothing.
func (p *providerRow) interval(size int) time.Duration {
	if p.speed.perMinute == 0 || size <= 0 {
		return 0
	}
	requests := zoneRequests + (marked*size+p.speed.perPage-1)/p.speed.perPage
	needed := time.Duration(requests*readShare) * time.Minute / time.Duration(p.speed.perMinute)
	steps := []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}
	for _, step := range steps {
		if needed <= step {
			return step
		}
	}
	return steps[len(steps)-1]
}

// marked is how many entries of a zone a name has: its own, and its mark.
const marked = 2

// External-dns waits so long after a change before it looks, unless
// min-event-sync-interval says otherwise, and looks at its clock so often.
const (
	defaultEventGap = 5 * time.Second
	clockTick       = time.Second
)

// AnswerWithin is about how long after a DNSEndpoint has changed an external-dns
// with these arguments tells the DNS provider, at most.
func AnswerWithin(args []string) time.Duration {
	wait := IntervalOf(args)
	if slices.Contains(args, "--events") {
		wait = min(wait, durationOf(args, "min-event-sync-interval", defaultEventGap))
	}
	return wait + clockTick
}

// DefaultTTL is the TTL of a name without one: what most DNS providers of external-dns give, and none gives more. The
// built-in publisher writes it by dynamic updates, which have no default of their own.
const DefaultTTL = 5 * time.Minute

// UsualTTL is for how long resolvers keep a name that has no TTL of its own, at most.
func UsualTTL(parameters Parameters) time.Duration {
	usual := DefaultTTL
	if given, err := time.ParseDuration(Value(parameters, "min-ttl")); err == nil && given > 0 {
		usual = given
	}
	if least, err := time.ParseDuration(Value(parameters, "rfc2136-min-ttl")); err == nil {
		usual = max(usual, least)
	}
	return usual
}
