package accept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/offers"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Instantiate accepts a release of the group's intents as they are now. It is
// allowed where nothing is current: when Created, Terminated or Failed, and
// also while Terminating. Repeated with nothing changed it answers the same
// again. confirm, unless empty, is the token of the plan that is accepted.
func (s *Planner) Instantiate(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error) {
	return s.Accept(ctx, owner, state.Request{Action: intent.Instantiate}, confirm, actor)
}

// Update accepts a new release for a group that is Instantiated or Updating.
func (s *Planner) Update(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error) {
	return s.Accept(ctx, owner, state.Request{Action: intent.Update}, confirm, actor)
}

const onlyDeployed = "only a deployed release can be rolled back; instantiate it"

// Rollback accepts the intents of an earlier revision as a new release, for a deployed
// group in any state. If to is 0, it is the revision before the current one. Rolling back
// to the inputs of the current release is accepted and changes nothing.
func (s *Planner) Rollback(ctx context.Context, owner intent.Path, to int64, confirm, actor string) (intent.Accepted, error) {
	return s.Accept(ctx, owner, state.Request{Action: intent.Rollback, To: to}, confirm, actor)
}

// Terminate accepts that nothing of the group is to be in any cluster. It is idempotent.
// A deployment of an orchestrator is terminated there, unless forced.
func (s *Planner) Terminate(ctx context.Context, owner intent.Path, force bool, confirm, actor string) (intent.Accepted, error) {
	return s.Accept(ctx, owner, state.Request{Action: intent.Terminate, Force: force}, confirm, actor)
}

// Accept accepts a request of a group, and tries again while others change what it
// reads. Confirm is the token of a plan, or empty.
func (s *Planner) Accept(ctx context.Context, owner intent.Path, r state.Request, confirm, actor string) (intent.Accepted, error) {
	r.Paid = new(int)
	return state.RetryOnConflict(ctx, owner, func(ctx context.Context) (intent.Accepted, error) { return s.TryAccept(ctx, owner, r, confirm, actor) })
}

// TryAccept is Accept without trying again.
func (s *Planner) TryAccept(ctx context.Context, owner intent.Path, r state.Request, confirm, actor string) (intent.Accepted, error) {
	_, accepted, err := s.tryAccept(ctx, owner, r, confirm, actor)
	return accepted, err
}

func (s *Planner) tryAccept(ctx context.Context, owner intent.Path, r state.Request, confirm, actor string) (*resolve.Proposal, intent.Accepted, error) {
	if !intent.IsName(owner) { // which no orchestrator drives
		l, err := s.StoredLifecycle(ctx, owner)
		if err == nil {
			err = r.Driver(owner, l) // before documents are asked for that an orchestrator keeps
		}
		if err != nil {
			return nil, intent.Accepted{}, err
		}
	}
	r.Confirmed = confirm != ""
	ctx, end, err := readNameAtOnce(ctx, s, owner, r)
	defer end()
	if err != nil {
		return nil, intent.Accepted{}, err
	}
	p, err := s.buildPlan(ctx, owner, r, false)
	if err != nil {
		return nil, intent.Accepted{}, err
	}
	accepted, err := s.acceptPlan(ctx, owner, p, confirm, actor)
	return p, accepted, err
}

// acceptPlan accepts what a plan proposes, if the state of its owner allows it.
func (s *Planner) acceptPlan(ctx context.Context, owner intent.Path, p *resolve.Proposal, confirm, actor string) (intent.Accepted, error) {
	if confirm != "" && confirm != p.View.Token {
		return intent.Accepted{}, state.PlanChanged()
	}
	same, err := s.allowed(ctx, p)
	if err != nil {
		return intent.Accepted{}, err
	}
	if same && p.AppContext != "" && p.Lifecycle.Unaccepted() != "" {
		return s.refollow(ctx, p)
	}
	if same && confirm != "" && len(p.Lifecycle.Retained) > 0 {
		return s.Removal.ConfirmRemoval(ctx, p, actor)
	}
	if same && (confirm == "" || !p.Clears) {
		return intent.Accepted{ContextID: p.Lifecycle.ContextID, Revision: p.Lifecycle.Seq}, nil
	}
	if len(p.View.Errors) > 0 {
		return intent.Accepted{}, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s cannot be %s; nothing was changed", owner, doneTo(owner, p.Action)), Fields: p.View.Errors}
	}
	if err := checkPublisher(ctx, p); err != nil {
		return intent.Accepted{}, err
	}
	if err := requirePlan(p, confirm); err != nil {
		return intent.Accepted{}, err
	}
	if confirm == "" {
		if err := p.Removals.Refuse(p.Confirmation()); err != nil {
			return intent.Accepted{}, err
		}
	}
	if err := s.Removal.ChargeName(ctx, p, confirm != ""); err != nil {
		return intent.Accepted{}, err
	}
	next, err := s.next(ctx, p, actor)
	if err != nil {
		return intent.Accepted{}, s.rollbackRejected(ctx, p, next, err)
	}
	if confirm != "" {
		if err := s.Removal.AcceptRemovals(ctx, p, &next); err != nil {
			return intent.Accepted{}, s.rollbackRejected(ctx, p, next, s.Offers.Withdrawn(p, err))
		}
	}
	s.Wakeups.Expect(owner, p.Lifecycle.Revision+1)
	if err := s.Save(ctx, owner, p.Lifecycle, next); err != nil {
		s.Wakeups.Expect(owner, 0)
		s.Wake(owner) // for what others have written
		return intent.Accepted{}, s.rollbackRejected(ctx, p, next, s.Offers.Withdrawn(p, err))
	}
	s.Wakeups.Add(state.Wakeup{Owners: []intent.Path{owner}, First: p.Lifecycle.Seq == 0})
	s.Logger.InfoContext(tracing.With(ctx, "contextID", next.ContextID), "accepted", "owner", owner, "action", string(p.Action), "revision", next.Seq)
	return intent.Accepted{ContextID: next.ContextID, Revision: next.Seq}, nil
}

// relinquished refuses to terminate a deployment of an orchestrator from here, unless
// forced. Its context there has to be gone, or to have ended.
func (s *Planner) relinquished(ctx context.Context, p *resolve.Proposal) error {
	l := p.Lifecycle
	if p.AppContext != "" || p.Force || !l.Orchestrated() {
		return nil
	}
	is, err := s.Follower.Stands(ctx, &l)
	if err != nil || is.As == follow.Ended {
		return err
	}
	return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is %s: %s drives it, by app context %s; terminate it there, or, where %s is gone, here by ?force=true (signpost terminate --force)",
		p.Draft.In.Owner.Path, l.State(), intent.Orchestrator, l.AppContext, intent.OrchestratorName)}
}

// rollbackRejected removes the release that a request wrote before it lost its race,
// takes back its claims, and answers the error. If the outcome is unknown, both stay.
func (s *Planner) rollbackRejected(ctx context.Context, p *resolve.Proposal, next state.Lifecycle, cause error) error {
	code := intent.CodeOf(cause)
	if next.ContextID == p.Lifecycle.ContextID || code != intent.PreconditionFailed && code != intent.Conflict {
		return cause
	}
	return errors.Join(cause, s.DropRelease(ctx, next.ContextID), s.Ownership.WithdrawRequests(ctx, p, next.ContextID))
}

// allowed judges the action in the group's state; same says that it has been
// accepted already and changes nothing.
func (s *Planner) allowed(ctx context.Context, p *resolve.Proposal) (same bool, err error) {
	state := p.Lifecycle.State()
	refuse := func(remedy string) error {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is %s: %s", p.Draft.In.Owner.Path, state, remedy)}
	}
	if err := p.Driver(p.Draft.In.Owner.Path, p.Lifecycle); err != nil {
		return false, err
	}
	switch {
	case p.Action == intent.Terminate:
		return !p.Lifecycle.Deployed(), s.relinquished(ctx, p)
	case p.Name != nil || p.Deploy:
		if !p.Lifecycle.Deployed() {
			return false, nil
		}
		return s.unchanged(ctx, p)
	case p.AppContext != "":
		if p.Lifecycle.AppContext != p.AppContext || !p.Lifecycle.Deployed() {
			return false, nil
		}
		return s.unchanged(ctx, p)
	case p.Action == intent.Instantiate:
		if !p.Lifecycle.Deployed() {
			return false, nil
		}
		same, err := s.unchanged(ctx, p)
		if err == nil && !same && state != intent.Failed {
			err = refuse(p.WhyUpdate())
		}
		return same, err
	case p.Action == intent.Rollback:
		if !p.Lifecycle.Deployed() {
			return false, refuse(onlyDeployed)
		}
		return s.unchanged(ctx, p)
	}
	if state != intent.Instantiated && state != intent.Updating {
		return false, refuse("only a group that is Instantiated or Updating can be updated; instantiate it")
	}
	return s.unchanged(ctx, p)
}

// unchanged says whether the current release was made of the same inputs. It also gives
// the same names, and pods the same autopath, as far as that is known.
func (s *Planner) unchanged(ctx context.Context, p *resolve.Proposal) (bool, error) {
	release, err := s.LoadRelease(ctx, p.Lifecycle.ContextID)
	if err != nil {
		return false, err
	}
	if p.Regains || len(p.Taken) > 0 && p.Lifecycle.Taking != p.Takeover {
		return false, nil
	}
	same := len(p.Draft.Errors) > 0 || resolve.SameAutopath(release.Group, p.Draft.Group)
	return same && slices.Equal(release.Inputs, p.Draft.Inputs), nil
}

// next writes the release and the records that it freezes, and answers the
// lifecycle that makes them wanted.
func (s *Planner) next(ctx context.Context, p *resolve.Proposal, actor string) (state.Lifecycle, error) {
	l := p.Lifecycle
	l.Wanted, l.Settled, l.Failure, l.Since, l.Leftovers, l.Trace = p.Action, false, "", s.Now().UTC(), nil, tracing.Parent(ctx)
	var uses []state.Use
	if p.Action != intent.Terminate {
		if err := s.release(ctx, &l, p); err != nil {
			return l, err
		}
		uses = p.Draft.Uses
	} else if err := s.Ownership.PendingReleases(ctx, &l, l.ContextID); err != nil {
		return l, err
	} else if intent.IsName(p.Draft.In.Owner.Path) {
		l.Refs = append(slices.Clone(l.Refs), p.Draft.In.ProjectPath()) // its provider may go before it is gone
	}
	for _, cluster := range l.RemovedClusters {
		l.Refs = append(l.Refs, intent.ClusterPath(cluster))
	}
	l.Track(p.Request)
	was := l.Name
	l.Name = nameOf(p)
	l.RelyOn(uses)
	l.Record(intent.Event{Time: l.Since, Actor: actor, Action: p.Action, Revision: l.Seq, Outcome: "accepted", Message: cmp.Or(p.Message, p.Note(), leaving(p), changesOf(was, l.Name))})
	err := s.Offers.NextOffers(ctx, &l, p)
	return l, err
}

// release claims what a proposal is to have alone, freezes its records, writes
// what it freezes, and has the lifecycle point to it.
func (s *Planner) release(ctx context.Context, l *state.Lifecycle, p *resolve.Proposal) error {
	frozen, err := state.NewRelease(p.Draft.Group, p.Draft.Inputs)
	if err != nil {
		return err
	}
	packed, err := s.Pack(frozen)
	if err != nil {
		return err
	}
	if err := s.takeBytes(ctx, p, p.Bytes+len(packed)); err != nil {
		return err
	}
	before, err := s.Ownership.Before(ctx, *l)
	if err != nil {
		return err
	}
	was := *l
	l.OwnerUID, l.Seq, l.ContextID, l.Schema = p.Draft.In.Owner.UID, l.Seq+1, appcontext.NewID(), frozen.Schema
	if err := s.claim(ctx, p, before, l.ContextID); err != nil {
		return err
	}
	if err := s.freezeRecords(ctx, p); err != nil {
		return err
	}
	if was.ContextID != "" {
		l.TrackRemovedClusters(was.Placed(before), p.Draft.Group)
		l.History = append(slices.Clone(l.History), state.Past{Seq: was.Seq, ContextID: was.ContextID})
		l.Forget() // a step may not come for long, as of a suspended group
		if len(ownership.Gone(before, p.Draft.Group)) > 0 {
			if err := s.Ownership.PendingReleases(ctx, l, was.ContextID); err != nil {
				return err
			}
		}
	}
	l.Names, l.Objects = tenancy.CountNames(p.Draft.Group), tenancy.CountObjects(p.Draft.Group)
	l.Taking, l.Transferred = cmp.Or(p.Takeover, l.Taking), nil
	l.Refs = append(refs(p.Draft), slices.DeleteFunc(slices.Clone(l.Refs), offers.IsNoOffer)...)
	return s.Tenancy.SaveRelease(ctx, p, l.ContextID, packed)
}

// takeBytes takes what a release needs from the rate of its project, but for what an
// earlier attempt of the request has taken.
func (s *Planner) takeBytes(ctx context.Context, p *resolve.Proposal, need int) error {
	before := 0
	if p.Paid != nil {
		before = *p.Paid
	}
	if s.TakeBytes == nil || need <= before {
		return nil
	}
	err := s.TakeBytes(ctx, p.Draft.In.ProjectPath(), need-before)
	if err == nil && p.Paid != nil {
		*p.Paid = need
	}
	return err
}

// claim claims the namespaces and names of a proposal, and where its DNS is to
// be.
func (s *Planner) claim(ctx context.Context, p *resolve.Proposal, before plan.Group, contextID string) error {
	if err := s.Ownership.ClaimRequests(ctx, p, before, contextID); err != nil {
		return err
	}
	return s.Tenancy.ClaimDNS(ctx, p)
}

// refs are the documents that must stay while the release is in a cluster.
func refs(d *resolve.Draft) []intent.Path {
	var out []intent.Path
	if !intent.IsName(d.Group.Path) { // the document of a name is in the lifecycle that refers, and its provider refers to the project
		out = append(out, d.In.CloudPath, d.Group.Path)
	}
	follows := d.In.FollowsClusters()
	for _, c := range d.Group.Clusters {
		home := func(b plan.Binding) bool { return b.Cluster == c.Name }
		if !follows || slices.ContainsFunc(d.Group.Bindings, home) { // clusters that a selector chose may go
			out = append(out, intent.ClusterPath(c.Name))
		}
	}
	for _, u := range d.Uses {
		out = append(out, u.Record)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// freezeRecords freezes the records of the draft that are not deployed yet, once their
// owner ids are theirs.
func (s *Planner) freezeRecords(ctx context.Context, p *resolve.Proposal) error {
	if err := s.Tenancy.ClaimOwnerIDs(ctx, p.Draft); err != nil {
		return err
	}
	for _, use := range p.Draft.Uses {
		r := p.Draft.Records[use.Record.Name()]
		l := r.Lifecycle
		if l.Deployed && state.SameRecord(l.Record, r.Frozen) {
			continue
		}
		if err := s.keepPlace(ctx, l, r.Frozen); err != nil {
			return err
		}
		l.Seq = r.Seq()
		l.Record, l.Deployed, l.PinnedAt, l.ContextID, l.Trace = r.Frozen, true, s.Now().UTC(), appcontext.NewID(), tracing.Parent(ctx)
		stored, err := s.SwapRecord(ctx, use.Record, l)
		if err != nil {
			return err
		}
		p.Draft.Records[use.Record.Name()] = resolve.RecordDraft{Lifecycle: stored, Frozen: r.Frozen}
	}
	return nil
}

// keepPlace refuses to freeze a provider with its names in another place while a release
// that was just accepted relies on it as it was. It reads nothing if the names stay in
// place.
func (s *Planner) keepPlace(ctx context.Context, was state.RecordLifecycle, is plan.Record) error {
	if state.InPlace(is.Spec, was.Record.Spec) {
		return nil
	}
	used, err := s.Resolver.InUse(ctx, is.Path, was)
	if err == nil && used {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: string(is.Path) + " has just come into use with its names in another place"}
	}
	return err
}
