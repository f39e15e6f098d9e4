package accept

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Names publishes names: each is planned and accepted as a group is.
type Names struct{ planner *Planner }

// NewNames makes Names of a Planner.
func NewNames(planner *Planner) *Names { return &Names{planner} }

// PlanName tells what PublishName would do, and changes nothing.
func (s *Names) PlanName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.Plan, error) {
	return state.RetryOnConflict(ctx, name, func(ctx context.Context) (intent.Plan, error) {
		request, err := nameRequest(name, r)
		if err != nil {
			return intent.Plan{}, err
		}
		p, err := s.planner.buildPlan(ctx, name, request, true)
		if err == nil {
			s.planner.Tenancy.WarnOfExistingRecords(ctx, p)
		}
		return p.View, err
	})
}

// PublishName accepts a release of a name and stores its document, in one write. A
// document that is equal to the stored one changes nothing. It is a Conflict if the
// document has changed, if the plan has errors, or if the project requires plans and none
// is confirmed.
func (s *Names) PublishName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.NamePublished, error) {
	paid := new(int)
	return state.RetryOnConflict(ctx, name, func(ctx context.Context) (intent.NamePublished, error) {
		request, err := nameRequest(name, r)
		if err != nil {
			return intent.NamePublished{}, err
		}
		request.Paid = paid
		p, accepted, err := s.planner.tryAccept(ctx, name, request, r.Confirm, r.Actor)
		if err != nil {
			return intent.NamePublished{}, err
		}
		published := intent.NamePublished{Accepted: accepted, Document: request.Name.At(name), Warnings: p.View.Warnings}
		if accepted.Revision != p.Lifecycle.Seq {
			published.Changes = p.View.Names
		}
		return published, nil
	})
}

// UnpublishName accepts that a name is to go, with its document. Names that are deleted
// one by one count together against their provider's maxRemoval.
func (s *Names) UnpublishName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.Accepted, error) {
	return s.planner.Accept(ctx, name, state.Request{Action: intent.Terminate, NameWas: r.Was}, r.Confirm, r.Actor)
}

// nameRequest leaves the action to what the lifecycle says.
func nameRequest(name intent.Path, r intent.NameRequest) (state.Request, error) {
	out := state.Request{Name: &r.Next, NameWas: r.Was, Restores: r.Restores}
	var err error
	if r.Takeover != "" {
		out.Takeover, err = takeoverFrom(name, r.Takeover)
	}
	return out, err
}

// doneTo is what an action does to an owner, as a participle: a name is published.
func doneTo(owner intent.Path, action intent.Action) string {
	switch {
	case !intent.IsName(owner):
		return action.Done()
	case action == intent.Terminate:
		return "unpublished"
	}
	return "published"
}

// checkName refuses a request that was judged by another document than is stored.
func checkName(next *intent.NameDocument, was *intent.Document, stored *intent.NameDocument) error {
	if next == nil && was == nil || was == nil && stored == nil || was != nil && stored != nil && was.UID == stored.UID && was.Revision == stored.Revision {
		return nil
	}
	return &intent.Error{Code: intent.Conflict, Detail: "the name has just been changed by others; try again"}
}

// checkRestored refuses a release that a name cannot have had. Of a name that is gone the history alone knows the releases.
func checkRestored(release, latest int64) error {
	if release >= 0 && (release <= latest || latest == 0) {
		return nil
	}
	return &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("query parameter restores must be a release of the name, from 1 to %d", latest)}
}

// requirePlan refuses a name of a project that wants plans, unless one is confirmed.
func requirePlan(p *resolve.Proposal, confirm string) error {
	if p.Name == nil || confirm != "" || !p.Draft.In.Project.Spec.Names.RequirePlan {
		return nil
	}
	plan, err := json.Marshal(p.View)
	if err != nil {
		return err
	}
	return &intent.Error{
		Code: intent.Conflict, Plan: plan,
		Detail: fmt.Sprintf("project %q requires a plan for names: look at the plan here, and repeat the request with ?confirm=%s", p.Draft.Group.Project.Name, p.View.Token),
	}
}

// checkPublisher refuses to publish or delete a name for an editor, unless the project
// allows it.
func checkPublisher(ctx context.Context, p *resolve.Proposal) error {
	by, project := intent.By(ctx), p.Draft.In.Project
	if !intent.IsName(p.Draft.In.Owner.Path) || project.Spec.Names.Editors || by.Operates == nil || by.Operates(project.Metadata.Name) {
		return nil
	}
	return &intent.Error{
		Code: intent.Forbidden,
		Detail: fmt.Sprintf("%s is editor, but publishing a name needs the role operator; an admin of project %q may set its names.editors to true; plans are allowed: ?dryRun=true",
			by.Subject, project.Metadata.Name),
	}
}

// nameOf is the document of a name as the next lifecycle keeps it, with the clusters that
// its selector chose; nil of other owners.
func nameOf(p *resolve.Proposal) *intent.NameDocument {
	kept := p.Name
	kept = cmp.Or(kept, p.Lifecycle.Name)
	if kept == nil || p.Action == intent.Terminate {
		return kept
	}
	out := *kept
	out.Clusters = nil
	if p.Draft.In.FollowsClusters() {
		out.Clusters = p.Draft.In.Members
	}
	return &out
}

// FollowClusters brings a name to the clusters that have the labels of its selector now.
// Names without a selector stay as they are.
//
// It reports whether it has accepted a release, and whether it will once the release of now is in its clusters.
func (s *Names) FollowClusters(ctx context.Context, name intent.Path, l state.Lifecycle) (accepted, later bool, err error) {
	if l.Name == nil || !l.Deployed() {
		return false, false, nil
	}
	resource, err := intent.Of[intent.Name](l.Name.At(name))
	if err != nil || resource.Spec.Clusters == nil || resource.Spec.Clusters.Selector == nil {
		return false, false, err
	}
	chosen, err := s.planner.Inputs.Chosen(ctx, name.Segment("projects"), resource.Spec.Clusters.Selector)
	if err != nil || slices.Equal(chosen, l.Name.Clusters) {
		return false, false, err
	}
	if s := l.State(); s != intent.Instantiated && s != intent.Updating {
		return false, true, nil
	}
	if _, err = s.planner.Accept(ctx, name, state.Request{Action: intent.Update}, "", intent.Itself); err != nil {
		s.planner.Logger.WarnContext(ctx, "a name cannot follow its clusters", "name", name, "error", err)
		return false, false, nil
	}
	return true, false, nil
}
