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
	mostKeys  = 64  // keys of one
)

// Kind says what a read ahead has in common with others, as those of the names of a provider.
type Kind struct {
	Name  string
	Own   string                   // is in the keys that are of one owner alone
	Whole func(prefix string) bool // tells whether a prefix may be read as a whole for others
}

// ReadAheadAs is ReadAhead, together with the keys that the last call for a kind has missed. A
// hint that is out of date costs a key that is read in vain. The caller calls learn when it
// has read all that it needs.
func (s *Store) ReadAheadAs(ctx context.Context, kind Kind, ahead kv.Range) (learn func(), err error) {
	hints, _ := s.hints.Get(kind.Name)
	ahead.Keys, ahead.Ahead = slices.Concat(ahead.Keys, hints.Keys), slices.Concat(ahead.Ahead, hints.Ahead)
	return func() { s.learn(missedIn(ctx), kind, hints) }, s.ReadAhead(ctx, ahead)
}

func (s *Store) learn(missed kv.Range, kind Kind, hints kv.Range) {
	keys := slices.DeleteFunc(missed.Keys, func(key string) bool { return strings.Contains(key, kind.Own) })
	prefixes := slices.DeleteFunc(missed.Ahead, func(prefix string) bool { return strings.Contains(prefix, kind.Own) || !kind.Whole(prefix) })
	if len(keys)+len(prefixes) == 0 {
		return
	}
	if len(hints.Keys)+len(hints.Ahead)+len(keys)+len(prefixes) <= mostKeys {
		keys, prefixes = slices.Concat(hints.Keys, keys), slices.Concat(hints.Ahead, prefixes)
	}
	s.hints.Keep(kind.Name, kv.Range{Keys: keys, Ahead: prefixes}, mostHints)
}
