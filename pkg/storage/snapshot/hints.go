package snapshot

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Bounds of what is known of others of a kind.
const (
	mostHints = 256 // kinds
	mostKeys  = 64  // keys and prefixes of one
	mostIdle  = 16  // calls in a row that a hint is kept for without being of use
)

// hint is a key, or a prefix that is read as a whole, that another one of a kind has read.
type hint struct {
	text   string
	prefix bool
	idle   int // calls since it was of use
}

// Kind says what a read ahead has in common with others, as those of the names of a provider.
type Kind struct {
	Name  string
	Own   string                   // is in the keys that are of one owner alone
	Whole func(prefix string) bool // tells whether a prefix may be read as a whole for others
}

// ReadAheadAs is ReadAhead, together with hints: keys that earlier calls for a kind have read and
// not asked for. Hints that are of no use for some calls are forgotten. The caller calls learn when
// it has read all that it needs.
func (s *Store) ReadAheadAs(ctx context.Context, kind Kind, ahead kv.Range) (learn func(), err error) {
	hints, _ := s.hints.Get(kind.Name)
	return func() { s.learn(ctx, kind, hints) }, s.ReadAhead(ctx, hinted(hints, ahead))
}

// Hinted is what ReadAheadAs adds for a kind.
func (s *Store) Hinted(kind string) kv.Range {
	hints, _ := s.hints.Get(kind)
	return hinted(hints, kv.Range{})
}

func hinted(hints []hint, ahead kv.Range) kv.Range {
	ahead.Keys, ahead.Ahead = slices.Clone(ahead.Keys), slices.Clone(ahead.Ahead)
	for _, h := range hints {
		if h.prefix {
			ahead.Ahead = append(ahead.Ahead, h.text)
		} else {
			ahead.Keys = append(ahead.Keys, h.text)
		}
	}
	return ahead
}

// learn notes which hints were of use, and adds what was missed. If these are too many, the hints go
// that have been idle for longest.
func (s *Store) learn(ctx context.Context, kind Kind, hints []hint) {
	used, missed := readIn(ctx)
	var next []hint
	for _, key := range missed.Keys {
		if !strings.Contains(key, kind.Own) {
			next = append(next, hint{text: key})
		}
	}
	for _, prefix := range missed.Ahead {
		if !strings.Contains(prefix, kind.Own) && kind.Whole(prefix) {
			next = append(next, hint{text: prefix, prefix: true})
		}
	}
	for _, h := range hints {
		h.idle++
		if h.usedBy(used) {
			h.idle = 0
		}
		if h.idle <= mostIdle {
			next = append(next, h)
		}
	}
	slices.SortStableFunc(next, func(a, b hint) int { return a.idle - b.idle })
	s.hints.Keep(kind.Name, next[:min(len(next), mostKeys)], mostHints)
}

func (h hint) usedBy(read kv.Range) bool {
	if !h.prefix {
		return slices.Contains(read.Keys, h.text)
	}
	below := func(text string) bool { return strings.HasPrefix(text, h.text) }
	return slices.ContainsFunc(read.Ahead, below) || slices.ContainsFunc(read.Keys, below)
}
