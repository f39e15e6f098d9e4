package builtin

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// A check of the whole zone comes once in so many intervals of the provider, with a jitter of a tenth.
const (
	intervalsOfCheck  = 10
	shortestZoneCheck = 10 * time.Minute
	mostNamed         = 3   // stray names in a message
	longestName       = 253 // characters of one in a message
	longestLabel      = 100 // characters of the label of its mark
)

// zoneCheck looks through the whole zone for names with the mark of the provider that nobody gives. Names that somebody
// gives, or gave to this publisher, are read and put right without it. The check writes and removes nothing.
type zoneCheck struct {
	next    time.Time
	before  map[string]bool // the names that were known when the listing began
	listing chan listing    // nil: none is under way
	stop    context.CancelFunc

	found  string // what the last listing that succeeded has found; empty: nothing wrong
	strays *int   // as many names; nil: not known
	failed string // why the last listing has failed; empty: it has not
}

// listing is what a Writer has answered.
type listing struct {
	sets []publisher.Set
	err  error
}

// checkZone begins a listing when it is time, and takes up the one that has ended.
func (l *loop) checkZone(ctx context.Context) {
	owning, can := l.writer.(publisher.Owning)
	if !can {
		return
	}
	now, every := l.target.Now(), max(intervalsOfCheck*l.spec.Interval, shortestZoneCheck)
	switch {
	case l.zone.listing != nil:
		select {
		case found := <-l.zone.listing:
			l.zone.stop()
			l.zone.listing, l.zone.next = nil, now.Add(every+rand.N(every/intervalsOfCheck)) //nolint:gosec // no secret
			l.judge(found)
		default:
		}
	case l.zone.next.IsZero():
		if l.recorded == nil || len(l.unread) > 0 {
			return // the first look at all names goes before
		}
		l.zone.next = now.Add(rand.N(every)) //nolint:gosec // so that the publishers of a server do not begin together
	case !now.Before(l.zone.next):
		l.list(ctx, owning)
	}
}

// list begins a listing. Names are published meanwhile.
func (l *loop) list(ctx context.Context, owning publisher.Owning) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan listing, 1)
	l.zone.before, l.zone.listing, l.zone.stop = l.names(), done, stop
	go func() {
		sets, err := owning.Owned(ctx)
		done <- listing{sets, err}
		l.wake()
	}()
}

// names are those that somebody gives, or gave to this publisher.
func (l *loop) names() map[string]bool {
	names := make(map[string]bool, len(l.recorded))
	for name := range l.recorded {
		names[name] = true
	}
	for name := range l.wishes.sets {
		names[name] = true
	}
	return names
}

// judge compares a listing with the names that are known by now, or were when it began. After a listing that has failed,
// what was found before is still the last that is known.
func (l *loop) judge(found listing) {
	l.zone.failed = ""
	if fault.Of(found.err) == publisher.Unlisted {
		return
	}
	if found.err != nil {
		l.zone.failed = "the zone was not looked through for names that nobody gives: " + found.err.Error()
		return
	}
	now := l.names()
	left := map[string]string{} // the labels of marks by name
	for _, set := range found.sets {
		if name := strings.ToLower(set.Name); !l.zone.before[name] && !now[name] {
			left[name] = set.Mark.Resource
		}
	}
	count := len(left)
	l.zone.strays, l.zone.found = &count, strayNames(left)
}

// strayNames says which names are left, by the labels of their marks; empty: none is.
func strayNames(left map[string]string) string {
	if len(left) == 0 {
		return ""
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(left))[:min(mostNamed, len(left))] {
		texts = append(texts, strings.TrimSuffix(clip(name, longestName)+" ("+clip(left[name], longestLabel)+")", " ()"))
	}
	named := strings.Join(texts, ", ")
	if more := len(left) - len(texts); more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("the DNS server has names of this provider that nobody gives: %s; publish them and remove them, or remove their records and marks by hand", named)
}

// clip shortens a text that anybody may have written into the zone, and replaces what cannot be printed.
func clip(text string, longest int) string {
	runes := []rune(text)
	shown := runes[:min(longest, len(runes))]
	for n, r := range shown {
		if !unicode.IsPrint(r) {
			shown[n] = unicode.ReplacementChar
		}
	}
	if len(runes) > longest {
		return string(shown) + "…"
	}
	return string(shown)
}

// message says what was found last, and why nothing was since.
func (z *zoneCheck) message() string {
	return strings.Join(slices.DeleteFunc([]string{z.found, z.failed}, func(text string) bool { return text == "" }), "; ")
}

// drop forgets what is known, and ends a listing.
func (z *zoneCheck) drop() {
	if z.stop != nil {
		z.stop()
	}
	*z = zoneCheck{}
}
