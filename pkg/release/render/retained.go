package render

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// watchLoss notes a host that is published now, and has no chosen address. A host that
// goes with the addresses of a drained cluster was asked for, and a host of another
// project's Service must go.
func (c *Contents) watchLoss(b plan.Binding, host plan.Host, in address.Input, choice address.Choice) {
	if len(endpoints.Sets(host, choice)) > 0 || len(endpoints.Sets(host, address.Choice{Sets: in.Previous})) == 0 || state.TakenAway(in) {
		return
	}
	if c.lost == nil {
		c.lost = map[string]state.NameSet{}
	}
	if c.lost[b.Record] == nil {
		c.lost[b.Record] = state.NameSet{}
	}
	c.lost[b.Record][host.Name] = true
}

// keepPublished puts what hosts publish now in the place of nothing, where it is
// to stay.
func (c *Contents) keepPublished(b plan.Binding, choices []address.Choice, now *past) {
	if len(c.Kept[b.Record]) == 0 {
		return
	}
	published := now.sets(b)
	for n, host := range b.Hosts {
		if c.Kept[b.Record][host.Name] && len(endpoints.Sets(host, choices[n])) == 0 {
			choices[n].Sets, choices[n].Kept = published[host.Name], len(published[host.Name]) > 0
		}
	}
}

// keep settles what a group loses with the accounts of the records, and answers
// what stays.
func (s *Renderer) keep(ctx context.Context, l state.Lifecycle, on *Inputs, lost map[string]state.NameSet, all *removal.Result) (map[string]state.NameSet, error) {
	kept := map[string]state.NameSet{}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		record := on.Records[name]
		pinned, err := s.RecordLifecycle(ctx, record.Path)
		if err != nil {
			return nil, err
		}
		if !state.SameRecord(pinned.Record, record) {
			return nil, &intent.Error{Code: appcontext.ErrStale, Detail: string(record.Path) + " has just been updated"}
		}
		held, err := s.Removal.SettleLoss(ctx, record.Path, record.UID, on.Group, guard.Loss{
			Names: slices.Sorted(maps.Keys(lost[name])), For: []string{l.ContextID, pinned.ContextID},
			Percent: state.MaxRemoval(record), Now: s.Now().UTC(),
		}, all)
		if err != nil {
			return nil, err
		}
		kept[name] = state.NameSet{}
		for _, host := range held {
			kept[name][host] = true
		}
	}
	return kept, nil
}
