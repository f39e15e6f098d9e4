package builtin

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/publisher"
)

// otherTypes are the types beside those of addresses that a name is to have, or was to have.
func otherTypes(want, recorded []publisher.Set) []string {
	var types []string
	for _, set := range slices.Concat(want, recorded) {
		if !slices.Contains(publisher.Managed(), set.Type) && !slices.Contains(types, set.Type) {
			types = append(types, set.Type)
		}
	}
	return types
}

// hold makes sure that no other publisher has taken over, and records names with the sets that
// are to be made. A set that is there already is recorded by its type alone if it is of another
// type than addresses.
func (l *loop) hold(ctx context.Context, names []string, want map[string][]publisher.Set, states map[string]publisher.State) error {
	fresh := map[string][]publisher.Set{}
	for _, name := range names {
		recorded, known := l.recorded[name]
		next := intended(recorded, want[name], states[name])
		if !same(next, recorded) || !known && len(want[name]) > 0 {
			fresh[name] = next
		}
	}
	if err := l.fence.record(ctx, fresh); err != nil {
		return l.lost(err)
	}
	maps.Copy(l.recorded, fresh)
	return nil
}

// intended are the sets to be recorded of a name that has some recorded already.
func intended(recorded, want []publisher.Set, state publisher.State) []publisher.Set {
	next := slices.Clone(recorded)
	for _, set := range want {
		at := slices.IndexFunc(next, func(s publisher.Set) bool { return s.Type == set.Type })
		_, there := state.Set(set.Type)
		switch {
		case !there && at >= 0:
			next[at] = set
		case !there:
			next = append(next, set)
		case at < 0 && len(otherTypes([]publisher.Set{set}, nil)) > 0: // to be read from now on; it equals no set, so its mark decides whose it is
			next = append(next, publisher.Set{Name: set.Name, Type: set.Type})
		}
	}
	return next
}
