package render

import (
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// Needed is what a name follows from: its claims, the observations of its Service, its provider
// and its entry in the ledger.
func Needed(g plan.Group) ahead.Reads {
	claims, below := ownership.KeysOf(g)
	reads := ahead.Reads{
		Documents: []intent.Path{intent.Join("projects", g.Project.Name), state.DrainedPath},
		Keys:      claims, Prefixes: below,
	}
	for _, b := range g.Bindings {
		record := state.RecordPath(g, b)
		use := state.Use{Record: record, Scope: b.Scope, Cluster: b.Cluster}
		reads.Documents = append(reads.Documents, state.LifecyclePath(record))
		reads.Keys = append(reads.Keys, ledger.AbandonedPrefix+b.Cluster, ledger.Key(endpoints.ID(g, b)))
		reads.Keys = append(reads.Keys, appcontext.Keys(use.Owner())...)
		for _, cluster := range b.Sources {
			if b.Service != "" {
				reads.Keys = append(reads.Keys, observed.ServiceKey(address.Service{Cluster: cluster, Namespace: b.Namespace, Name: b.Service}))
			}
		}
	}
	return reads
}
