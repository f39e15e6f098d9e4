// Package state keeps what the other packages of a release share: lifecycles,
// frozen releases, frozen providers and who uses them, each change by
// compare-and-swap.
package state

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state/packed"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Store reads and writes the state of releases. It is safe for concurrent use.
type Store struct {
	Documents     intent.Store
	KV            kv.KV
	Contexts      *appcontext.Store
	Ledger        *ledger.Ledger
	Observed      *observed.Store
	Forget        []func(cluster string) kv.Op                                               // what else goes when an abandoned cluster is forgotten
	Recorder      func(ctx context.Context, owner intent.Path, events ...intent.Event)       // of stored events; nil: nobody
	Recorded      func(ctx context.Context, owner intent.Path, e intent.Event) (bool, error) // whether Recorder has stored that event; nil: nobody knows
	Names         NameRecorder                                                               // of the past of host names; nil: nobody
	Installation  string                                                                     // generated id
	ImageRegistry string                                                                     // replaces registry.k8s.io in default images
	Now           func() time.Time
	Logger        *slog.Logger
	Tracer        *tracing.Tracer               // nil: traces are passed on, and none are recorded
	Wakeups       *Wakeups                      // owners that a controller is to look at
	Packer        *packed.Packer                // of releases; nil: nothing is kept for the next one
	DocumentKey   func(path intent.Path) string // where KV has a document; nil: it has not all of them

	releases recent.Memory[string, keptRelease] // by their context ids: they never change
	pinned   recent.Memory[pinnedAt, map[string]plan.Record]
	records  recent.Memory[intent.Path, keptRecord] // by the provider
}

// Ahead is a list of keys that a request or a step is about to read.
type Ahead struct {
	Documents []intent.Path
	Keys      []string
	Prefixes  []string
}

// ReadAtOnce returns a context whose reads are of one time until it writes (ADR 0085). It reads in one request what is asked for ahead. The
// caller calls end when it has done. If KV has not all documents, the context reads as ctx does.
func ReadAtOnce(ctx context.Context, s *Store, ahead Ahead) (_ context.Context, end func(), err error) {
	store, can := s.KV.(*snapshot.Store)
	if !can || s.DocumentKey == nil {
		return ctx, func() {}, nil
	}
	ctx, at, err := store.Begin(ctx, rangeOf(s, ahead))
	return ctx, at.End, err
}

// ReadAhead reads more, in one request, for a context of ReadAtOnce. In another context it reads nothing.
func ReadAhead(ctx context.Context, s *Store, ahead Ahead) error {
	store, can := s.KV.(*snapshot.Store)
	if !can || s.DocumentKey == nil {
		return nil
	}
	return store.ReadAhead(ctx, rangeOf(s, ahead))
}

// ReadAheadAs is ReadAhead, together with keys that other owners of a kind have read lately and
// not asked for. The caller calls learn when it has read all that it needs.
func ReadAheadAs(ctx context.Context, s *Store, kind string, owner intent.Path, ahead Ahead) (learn func(), err error) {
	store, can := s.KV.(*snapshot.Store)
	if !can || s.DocumentKey == nil {
		return func() {}, nil
	}
	return store.ReadAheadAs(ctx, snapshot.Kind{Name: kind, Own: owner.Name(), Whole: appcontext.IsResources}, rangeOf(s, ahead))
}

func rangeOf(s *Store, ahead Ahead) kv.Range {
	r := kv.Range{Keys: slices.Clone(ahead.Keys), Ahead: slices.Clone(ahead.Prefixes)}
	for _, path := range ahead.Documents {
		r.Keys = append(r.Keys, s.DocumentKey(path))
	}
	return r
}

// Collection is the prefix of the keys of a collection's documents; empty if KV does not have them.
func Collection(s *Store, collection string) string {
	if s.DocumentKey == nil {
		return ""
	}
	return strings.TrimSuffix(s.DocumentKey(intent.Join(collection, "x")), "x")
}
