package accept

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Deploy brings a group or a logical cloud to what its documents say now, in any state: it
// instantiates or updates, as needed. If the current release says the same already, Deploy
// does nothing, and the answer says so.
func (s *Planner) Deploy(ctx context.Context, owner intent.Path, r intent.DeployRequest) (intent.Deployed, error) {
	request := state.Request{Deploy: true, Paid: new(int)}
	if r.Takeover != "" {
		var err error
		if request.Takeover, err = takeoverFrom(owner, r.Takeover); err != nil {
			return intent.Deployed{}, err
		}
	}
	return state.RetryOnConflict(ctx, owner, func(ctx context.Context) (intent.Deployed, error) {
		p, accepted, err := s.tryAccept(ctx, owner, request, r.Confirm, r.Actor)
		if err != nil {
			return intent.Deployed{}, err
		}
		action := p.Action
		if accepted.Revision == p.Lifecycle.Seq && (r.Confirm == "" || len(p.Lifecycle.Retained) == 0) {
			action = intent.NoAction
		}
		return intent.Deployed{Accepted: accepted, Action: action}, nil
	})
}
