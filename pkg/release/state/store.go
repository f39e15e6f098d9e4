// Package state keeps what the other packages of a release share: lifecycles,
// frozen releases, frozen providers and who uses them, each change by
// compare-and-swap.
package state

import (
	"context"
	"log/slog"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state/packed"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
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
