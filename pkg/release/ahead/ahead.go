// Package ahead has requests and steps read what they are about to need in few requests, and as
// it is at one time (ADR 0085).
package ahead

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Reads are documents, keys, and prefixes of keys that a request or a step is about to read.
type Reads struct {
	Documents []intent.Path
	Keys      []string
	Prefixes  []string
}

// Add adds others.
func (r *Reads) Add(others Reads) {
	r.Documents = append(r.Documents, others.Documents...)
	r.Keys = append(r.Keys, others.Keys...)
	r.Prefixes = append(r.Prefixes, others.Prefixes...)
}

// Begin returns a context whose reads are of one time until it writes. It reads in one request what is asked for. The
// caller calls end when it has done. If the store of keys has not all documents, the context reads as ctx does.
func Begin(ctx context.Context, s *state.Store, reads Reads) (_ context.Context, end func(), err error) {
	store := storeOf(s)
	if store == nil {
		return ctx, func() {}, nil
	}
	ctx, at, err := store.Begin(ctx, reads.in(s))
	return ctx, at.End, err
}

// BeginAs is Begin with the hints of ReadAs. If ctx reads at one time already, that goes on.
func BeginAs(ctx context.Context, s *state.Store, kind string, owner intent.Path, reads Reads) (_ context.Context, end func(), err error) {
	ended := func() {}
	if !snapshot.Reading(ctx) {
		if ctx, ended, err = Begin(ctx, s, Reads{}); err != nil {
			return ctx, ended, err
		}
	}
	learn, err := ReadAs(ctx, s, kind, owner, reads)
	return ctx, func() { learn(); ended() }, err
}

// Read reads more, in one request, for a context of Begin. In another context it reads nothing.
func Read(ctx context.Context, s *state.Store, reads Reads) error {
	store := storeOf(s)
	if store == nil {
		return nil
	}
	return store.ReadAhead(ctx, reads.in(s))
}

// ReadAs is Read, together with keys that other owners of a kind have read lately and not asked
// for. The caller calls learn when it has read all that it needs.
func ReadAs(ctx context.Context, s *state.Store, kind string, owner intent.Path, reads Reads) (learn func(), err error) {
	store := storeOf(s)
	if store == nil {
		return func() {}, nil
	}
	return store.ReadAheadAs(ctx, snapshot.Kind{Name: kind, Own: owner.Name(), Whole: appcontext.IsResources}, reads.in(s))
}

// Hinted are the keys and prefixes that ReadAs adds for a kind.
func Hinted(s *state.Store, kind string) Reads {
	store := storeOf(s)
	if store == nil {
		return Reads{}
	}
	hints := store.Hinted(kind)
	return Reads{Keys: hints.Keys, Prefixes: hints.Ahead}
}

// Published is Begin, with what several owners publish now.
func Published(ctx context.Context, s *state.Store, owners []intent.Path, reads Reads) (_ context.Context, end func(), err error) {
	for _, owner := range owners {
		reads.Keys = append(reads.Keys, appcontext.Keys(state.GroupOwner(owner))...)
	}
	ctx, end, err = Begin(ctx, s, reads)
	if err != nil || storeOf(s) == nil {
		return ctx, end, err
	}
	var objects Reads
	for _, owner := range owners {
		is, err := s.Contexts.Current(ctx, state.GroupOwner(owner))
		if err != nil {
			return ctx, end, err
		}
		objects.Prefixes = append(objects.Prefixes, is.Resources()...)
	}
	return ctx, end, Read(ctx, s, objects)
}

// Each visits groups and names with their lifecycles, in order of their paths. Many names are visited in a context that begin
// has begun for them. Groups, which may read very much, are visited in ctx. The first error ends it.
func Each(ctx context.Context, owners map[intent.Path]state.Lifecycle, begin func(ctx context.Context, names []intent.Path) (context.Context, func(), error), visit func(ctx context.Context, owner intent.Path, l state.Lifecycle) error) error {
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(owners)), kv.MaxOps) {
		names := slices.DeleteFunc(slices.Clone(paths), func(owner intent.Path) bool { return !intent.IsName(owner) })
		together, end, err := begin(ctx, names)
		for n := 0; n < len(paths) && err == nil; n++ {
			on := ctx
			if intent.IsName(paths[n]) {
				on = together
			}
			err = visit(on, paths[n], owners[paths[n]])
		}
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// Collection is the prefix of the keys of a collection's documents; empty if the store of keys does not have them.
func Collection(s *state.Store, collection string) string {
	if s.DocumentKey == nil {
		return ""
	}
	return strings.TrimSuffix(s.DocumentKey(intent.Join(collection, "x")), "x")
}

// Below is the prefix of the keys of all documents below a path; empty if the store of keys does not have them.
func Below(s *state.Store, path intent.Path) string {
	if s.DocumentKey == nil {
		return ""
	}
	return strings.TrimSuffix(s.DocumentKey(path.Child("a", "b")), "a//b")
}

// storeOf is the store that can be read at one time; nil if it has not all documents.
func storeOf(s *state.Store) *snapshot.Store {
	store, can := s.KV.(*snapshot.Store)
	if !can || s.DocumentKey == nil {
		return nil
	}
	return store
}

// in is what a store has to read for them.
func (r *Reads) in(s *state.Store) kv.Range {
	keys := kv.Range{Keys: slices.Clone(r.Keys), Ahead: slices.Clone(r.Prefixes)}
	for _, path := range r.Documents {
		keys.Keys = append(keys.Keys, s.DocumentKey(path))
	}
	return keys
}
