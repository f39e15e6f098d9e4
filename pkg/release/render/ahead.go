package render

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// ReadAhead reads in one request what a name follows from, for a context of
// [state.ReadAtOnce]. These are its claims, the observations of its Service, its provider and
// its entry in the ledger. It reads more with them.
func (s *Renderer) ReadAhead(ctx context.Context, kind string, g plan.Group, more state.Ahead) (learn func(), err error) {
	claims, below := ownership.KeysOf(g)
	ahead := state.Ahead{
		Documents: append(more.Documents, intent.Join("projects", g.Project.Name), state.DrainedPath),
		Keys:      append(more.Keys, claims...), Prefixes: append(more.Prefixes, below...),
	}
	for _, b := range g.Bindings {
		record := state.RecordPath(g, b)
		use := state.Use{Record: record, Scope: b.Scope, Cluster: b.Cluster}
		kind += " " + string(record) + " " + b.Cluster
		ahead.Documents = append(ahead.Documents, state.LifecyclePath(record))
		ahead.Keys = append(ahead.Keys, ledger.AbandonedPrefix+b.Cluster, ledger.Key(endpoints.ID(g, b)))
		ahead.Keys = append(ahead.Keys, appcontext.Keys(use.Owner())...)
		for _, cluster := range b.Sources {
			if b.Service != "" {
				ahead.Keys = append(ahead.Keys, observed.ServiceKey(address.Service{Cluster: cluster, Namespace: b.Namespace, Name: b.Service}))
			}
		}
	}
	return state.ReadAhead(ctx, s.Store, kind, g.Path, ahead)
}
