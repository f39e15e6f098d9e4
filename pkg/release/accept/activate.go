package accept

import (
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// refollow notes that the orchestrator has come back to what the group is for.
func (s *Planner) refollow(ctx context.Context, p *resolve.Proposal) (intent.Accepted, error) {
	l := p.Lifecycle
	l.Follow()
	return intent.Accepted{ContextID: l.ContextID, Revision: l.Seq}, s.Swap(ctx, p.Draft.In.Owner.Path, l)
}

// ErrNotPrepared is the cause of an error about an app context that no release
// is kept for.
var ErrNotPrepared = errors.New("no release is kept for it")

// recallPrepared drafts what was frozen for an app context, as a rollback does:
// with the records as they are deployed now, or would be pinned.
func (s *Planner) recallPrepared(ctx context.Context, p *resolve.Proposal, live *inputs.Inputs) error {
	at := p.Lifecycle.PreparedAt(p.AppContext)
	if p.Action == intent.Terminate {
		return &intent.Error{Code: intent.PreconditionFailed, Detail: "app context " + p.AppContext + " has just been terminated"}
	}
	if at < 0 {
		return &intent.Error{Code: intent.NotFound, Detail: "app context " + p.AppContext, Err: ErrNotPrepared}
	}
	release, err := s.LoadRelease(ctx, p.Lifecycle.Prepared[at].ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		return &intent.Error{Code: intent.PreconditionFailed, Detail: "another release has just been frozen for app context " + p.AppContext, Err: err}
	}
	if err != nil {
		return err
	}
	p.Message = "app context " + p.AppContext
	p.Draft = &resolve.Draft{In: live, Records: map[string]resolve.RecordDraft{}}
	return s.Resolver.Redraft(ctx, p.Draft, "the release for app context "+p.AppContext, release)
}

// depart drafts the end of an orchestrated group. It follows from the current release
// alone, because the documents may be gone, and the orchestrator may not answer.
func (s *Planner) depart(ctx context.Context, group intent.Path, p *resolve.Proposal, l state.Lifecycle) error {
	release, err := s.LoadRelease(ctx, l.ContextID)
	p.Lifecycle = l
	p.Draft = &resolve.Draft{In: &inputs.Inputs{Owner: intent.Document{Path: group, UID: l.OwnerUID}}, Group: l.Placed(release.Group)}
	if p.AppContext != "" {
		p.Message = "app context " + p.AppContext
	}
	return err
}

// gatherOrchestrated reads what the orchestrator's next call would go by, if its app
// context were as the group's is.
func (s *Planner) gatherOrchestrated(ctx context.Context, group intent.Path, l state.Lifecycle) (*inputs.Inputs, error) {
	by, err := s.Follower.Current(ctx, &l)
	if err != nil {
		return nil, err
	}
	return s.Inputs.GatherFor(ctx, group, by)
}

// foresee says what a plan of an orchestrated group is.
func foresee(d *resolve.Draft) {
	PodEdits(d) // what it says of them, for nothing is edited
	d.Warn("%s drives this group: this is the effect of its next update if the apps stay as they are in app context %s", intent.Orchestrator, d.In.Orchestration.ID)
}
