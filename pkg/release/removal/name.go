package removal

import (
	"context"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// ChargeName charges the account of a name's provider with the removal of the name,
// which somebody asks for. Names that are deleted one by one so count together. It is a
// Conflict where more would go than the provider's maxRemoval allows, unless a plan was
// confirmed.
func (s *Guard) ChargeName(ctx context.Context, p *resolve.Proposal, confirmed bool) error {
	name := p.Draft.Group.Path
	if p.Action != intent.Terminate || !intent.IsName(name) || confirmed || !p.Lifecycle.Deployed() {
		return nil
	}
	for _, use := range p.Lifecycle.Uses {
		record, err := s.RecordLifecycle(ctx, use.Record)
		if err != nil {
			return err
		}
		loss := guard.Loss{Names: []string{name.Name()}, Percent: state.MaxRemoval(record.Record), For: []string{p.Lifecycle.ContextID}, Now: s.Now().UTC()}
		_, _, _, err = s.settle(ctx, use.Record, record.Record.UID, p.Draft.Group, loss, mostCompared, func(held []string) error {
			if len(held) == 0 {
				return nil
			}
			return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s was not deleted: with the names that have gone within an hour, more than %d %% of the names of provider %q would go; "+
				"delete it with ?confirm=<token> of its plan (?dryRun=true)", name, state.MaxRemoval(record.Record), record.Record.Name)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
