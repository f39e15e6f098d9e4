package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/trail"
)

// Instantiate accepts a release of the group's intents as they are now. It is
// allowed where nothing is current: when Created, Terminated or Failed, and
// also while Terminating. Repeated with nothing changed it answers the same
// again. confirm, unless empty, is the token of the plan that is accepted.
func (s *Service) Instantiate(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error) {
	return s.accept(ctx, owner, request{action: intent.Instantiate}, confirm, actor)
}

// Update accepts a new release for a group that is Instantiated or Updating.
func (s *Service) Update(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error) {
	return s.accept(ctx, owner, request{action: intent.Update}, confirm, actor)
}

// Rollback accepts the intents of an earlier revision as a new release, for a
// group that is deployed in any state. to 0 is the revision before the current
// one. What the current release was made of already is accepted unchanged.
func (s *Service) Rollback(ctx context.Context, owner intent.Path, to int64, confirm, actor string) (intent.Accepted, error) {
	return s.accept(ctx, owner, request{action: intent.Rollback, to: to}, confirm, actor)
}

// Terminate accepts that nothing of the group is to be in any cluster. It is
// idempotent. What EMCO's orchestrator has in the clusters is terminated there,
// unless forced.
func (s *Service) Terminate(ctx context.Context, owner intent.Path, force bool, confirm, actor string) (intent.Accepted, error) {
	return s.accept(ctx, owner, request{action: intent.Terminate, force: force}, confirm, actor)
}

// request is what is asked of a group.
type request struct {
	action     intent.Action
	to         int64       // of a rollback: the revision, 0 for the one before the current
	appContext string      // of EMCO's, that its orchestrator has made current or ends; empty: it is Signpost's own lifecycle
	force      bool        // of terminate: also what EMCO has in the clusters
	takeover   intent.Path // the group whose names are taken over; empty: none's
}

func (s *Service) accept(ctx context.Context, owner intent.Path, r request, confirm, actor string) (intent.Accepted, error) {
	return undisturbed(owner, func() (intent.Accepted, error) { return s.tryAccept(ctx, owner, r, confirm, actor) })
}

func (s *Service) tryAccept(ctx context.Context, owner intent.Path, r request, confirm, actor string) (intent.Accepted, error) {
	l, err := s.storedLifecycle(ctx, owner)
	if err == nil {
		err = r.driver(owner, l) // before documents are asked for that EMCO keeps
	}
	if err != nil {
		return intent.Accepted{}, err
	}
	p, err := s.propose(ctx, owner, r)
	if err != nil {
		return intent.Accepted{}, err
	}
	if confirm != "" && confirm != p.view.Token {
		return intent.Accepted{}, replan()
	}
	same, err := s.allowed(ctx, p)
	if err != nil {
		return intent.Accepted{}, err
	}
	if same && p.appContext != "" && p.lifecycle.Unaccepted() != "" {
		return s.refollow(ctx, p)
	}
	if same && confirm != "" && len(p.lifecycle.Held) > 0 {
		return s.letGo(ctx, p, actor)
	}
	if same && (confirm == "" || !p.clears) {
		return intent.Accepted{ContextID: p.lifecycle.ContextID, Revision: p.lifecycle.Seq}, nil
	}
	if len(p.view.Errors) > 0 {
		return intent.Accepted{}, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s cannot be %s; nothing was changed", owner, p.action.Done()), Fields: p.view.Errors}
	}
	if confirm == "" {
		if err := p.removals.refuse(p.confirmation()); err != nil {
			return intent.Accepted{}, err
		}
	}
	next, err := s.next(ctx, p, actor)
	if err != nil {
		return intent.Accepted{}, s.dropLost(ctx, p, next, err)
	}
	if confirm != "" {
		if err := s.permitRemovals(ctx, p, next.ContextID); err != nil {
			return intent.Accepted{}, s.dropLost(ctx, p, next, s.withdrawn(p, err))
		}
	}
	if _, err := s.swap(ctx, owner, next); err != nil {
		return intent.Accepted{}, s.dropLost(ctx, p, next, s.withdrawn(p, err))
	}
	s.wake(owner)
	s.Logger.InfoContext(trail.With(ctx, "contextID", next.ContextID), "accepted", "owner", owner, "action", string(p.action), "revision", next.Seq)
	return intent.Accepted{ContextID: next.ContextID, Revision: next.Seq}, nil
}

// driver refuses to have one group driven from two sides: by EMCO's
// orchestrator, and from here. See relinquished for terminate.
func (r request) driver(owner intent.Path, l Lifecycle) error {
	if r.action == intent.Terminate || !l.deployed() || l.orchestrated() == (r.appContext != "") {
		return nil
	}
	detail := fmt.Sprintf("%s is %s: EMCO's orchestrator drives it, by app context %s; instantiate, update and roll it back there", owner, l.State(), l.AppContext)
	if r.appContext != "" {
		detail = fmt.Sprintf("%s is %s: Signpost deploys its apps itself; terminate it here before EMCO's orchestrator instantiates it", owner, l.State())
	}
	return &intent.Error{Code: intent.Conflict, Detail: detail}
}

// relinquished refuses to terminate from here what EMCO has in the clusters,
// unless forced: its context there has to be gone, or to have ended.
func (s *Service) relinquished(ctx context.Context, p *proposal) error {
	l := p.lifecycle
	if p.appContext != "" || p.force || !l.orchestrated() {
		return nil
	}
	is, err := s.stands(ctx, &l)
	if err != nil || is.as == ended {
		return err
	}
	return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is %s: EMCO's orchestrator drives it, by app context %s; terminate it there, or, where EMCO is gone, here by ?force=true (signpost terminate --force)",
		p.draft.in.owner.Path, l.State(), l.AppContext)}
}

// dropLost removes the release that a request wrote before it lost its race,
// takes back what it claimed for it, and answers the error. Where the outcome is
// unknown, both stay.
func (s *Service) dropLost(ctx context.Context, p *proposal, next Lifecycle, cause error) error {
	code := intent.CodeOf(cause)
	if next.ContextID == p.lifecycle.ContextID || code != intent.PreconditionFailed && code != intent.Conflict {
		return cause
	}
	return errors.Join(cause, s.dropRelease(ctx, next.ContextID), s.withdrawBids(ctx, p, next.ContextID))
}

// allowed judges the action in the group's state; same says that it has been
// accepted already and changes nothing.
func (s *Service) allowed(ctx context.Context, p *proposal) (same bool, err error) {
	state := p.lifecycle.State()
	refuse := func(remedy string) error {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is %s: %s", p.draft.in.owner.Path, state, remedy)}
	}
	if err := p.driver(p.draft.in.owner.Path, p.lifecycle); err != nil {
		return false, err
	}
	switch {
	case p.action == intent.Terminate:
		return !p.lifecycle.deployed(), s.relinquished(ctx, p)
	case p.appContext != "":
		if p.lifecycle.AppContext != p.appContext || !p.lifecycle.deployed() {
			return false, nil
		}
		return s.unchanged(ctx, p)
	case p.action == intent.Instantiate:
		if !p.lifecycle.deployed() {
			return false, nil
		}
		same, err := s.unchanged(ctx, p)
		if err == nil && !same && state != intent.Failed {
			err = refuse(p.whyUpdate())
		}
		return same, err
	case p.action == intent.Rollback:
		if !p.lifecycle.deployed() {
			return false, refuse("only what is deployed can be rolled back; instantiate it")
		}
		return s.unchanged(ctx, p)
	}
	if state != intent.Instantiated && state != intent.Updating {
		return false, refuse("only what is Instantiated or Updating can be updated")
	}
	return s.unchanged(ctx, p)
}

// whyUpdate is why what is instantiated cannot be instantiated.
func (p *proposal) whyUpdate() string {
	switch {
	case len(p.taken) > 0:
		return "names are taken over by its update"
	case p.regains:
		return "names that it has given up are free again; update it"
	}
	return "its intents, or what they depend on, have changed since; update it, or terminate it first"
}

// unchanged says whether the current release was made of the same inputs, gives
// the same names, and gives pods the same by autopath, as far as that is known.
func (s *Service) unchanged(ctx context.Context, p *proposal) (bool, error) {
	release, err := s.loadRelease(ctx, p.lifecycle.ContextID)
	if err != nil {
		return false, err
	}
	if p.regains || len(p.taken) > 0 && p.lifecycle.Taking != p.takeover {
		return false, nil
	}
	same := len(p.draft.errors) > 0 || sameAutopath(release.Group, p.draft.group)
	return same && slices.Equal(release.Inputs, p.draft.inputs), nil
}

// next writes the release and the records that it pins, and answers the
// lifecycle that makes them wanted.
func (s *Service) next(ctx context.Context, p *proposal, actor string) (Lifecycle, error) {
	l := p.lifecycle
	l.Wanted, l.Settled, l.Failure, l.Since, l.Leftovers, l.Trace = p.action, false, "", s.Now().UTC(), nil, trail.Parent(ctx)
	var uses []Use
	if p.action != intent.Terminate {
		if err := s.release(ctx, &l, p); err != nil {
			return l, err
		}
		uses = p.draft.uses
	} else if err := s.shedding(ctx, &l, l.ContextID); err != nil {
		return l, err
	}
	for _, cluster := range l.Vacating {
		ref, _ := intent.ParseCluster(cluster)
		l.Refs = append(l.Refs, ref.Path())
	}
	l.track(p.request)
	l.Leaving = without(append(slices.Clone(l.Leaving), l.Uses...), uses)
	l.Draining = without(l.Draining, uses)
	l.Uses, l.Former = uses, nil
	for _, use := range l.Leaving {
		if !slices.Contains(l.Refs, use.Record) {
			l.Refs = append(l.Refs, use.Record)
		}
	}
	l.record(intent.Event{Time: l.Since, Actor: actor, Action: p.action, Revision: l.Seq, Outcome: "accepted", Message: p.message})
	err := s.nextOffers(ctx, &l, p)
	return l, err
}

// release claims what a proposal is to have alone, pins its records, writes
// what it freezes, and has the lifecycle point to it.
func (s *Service) release(ctx context.Context, l *Lifecycle, p *proposal) error {
	frozen, err := newRelease(p.draft.group, p.draft.inputs)
	if err != nil {
		return err
	}
	before, err := s.before(ctx, *l)
	if err != nil {
		return err
	}
	was := *l
	l.OwnerUID, l.Seq, l.ContextID, l.schema = p.draft.in.owner.UID, l.Seq+1, appcontext.NewID(), frozen.Schema
	if err := s.claim(ctx, p, before, l.ContextID); err != nil {
		return err
	}
	if err := s.pin(ctx, p); err != nil {
		return err
	}
	if was.ContextID != "" {
		l.vacate(was.placed(before), p.draft.group)
		l.History = append(slices.Clone(l.History), Past{Seq: was.Seq, ContextID: was.ContextID})
		if len(gone(before, p.draft.group)) > 0 {
			if err := s.shedding(ctx, l, was.ContextID); err != nil {
				return err
			}
		}
	}
	l.Names = countNames(p.draft.group)
	l.Claimed, l.Taking, l.Yielded = true, cmp.Or(p.takeover, l.Taking), nil
	l.Refs = append(refs(p.draft), slices.DeleteFunc(slices.Clone(l.Refs), isNoOffer)...)
	return s.saveRelease(ctx, l.ContextID, frozen)
}

// before is what a lifecycle's release was made of, the zero Group where there
// is none.
func (s *Service) before(ctx context.Context, l Lifecycle) (plan.Group, error) {
	if l.ContextID == "" {
		return plan.Group{}, nil
	}
	release, err := s.loadRelease(ctx, l.ContextID)
	return release.Group, err
}

// claim claims the namespaces and names of a proposal, and where its DNS is to
// be.
func (s *Service) claim(ctx context.Context, p *proposal, before plan.Group, contextID string) error {
	if err := s.claimBids(ctx, p, before, contextID); err != nil {
		return err
	}
	return s.claimDNS(ctx, p)
}

// vacate notes which clusters the group's earlier releases used and the next
// one does not: what is there has to go.
func (l *Lifecycle) vacate(before, next plan.Group) {
	clusters := slices.Clone(l.Vacating)
	for _, c := range withFormer(before, l.Former).Clusters {
		clusters = append(clusters, c.Name)
	}
	slices.Sort(clusters)
	used := func(cluster string) bool {
		return slices.ContainsFunc(next.Clusters, func(c plan.Cluster) bool { return c.Name == cluster })
	}
	l.Vacating = slices.DeleteFunc(slices.Compact(clusters), used)
}

// without is the set of uses that are not among others.
func without(uses, others []Use) []Use {
	var out []Use
	for _, use := range uses {
		if !slices.Contains(others, use) && !slices.Contains(out, use) {
			out = append(out, use)
		}
	}
	return out
}

// refs are the documents that must stay while the release is in a cluster.
func refs(d *draft) []intent.Path {
	out := []intent.Path{d.group.Path, d.in.cloudPath}
	for _, c := range d.group.Clusters {
		ref, _ := intent.ParseCluster(c.Name)
		out = append(out, ref.Path())
	}
	for _, u := range d.uses {
		out = append(out, u.Record)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pin freezes the records of the draft that are not deployed yet, once their
// owner ids are theirs.
func (s *Service) pin(ctx context.Context, p *proposal) error {
	if err := s.claimOwnerIDs(ctx, p.draft); err != nil {
		return err
	}
	for _, use := range p.draft.uses {
		r := p.draft.records[use.Record.Name()]
		l := r.lifecycle
		if l.Deployed && sameRecord(l.Record, r.frozen) {
			continue
		}
		l.Seq = r.seq()
		l.Record, l.Deployed, l.PinnedAt, l.ContextID, l.Trace = r.frozen, true, s.Now().UTC(), appcontext.NewID(), trail.Parent(ctx)
		stored, err := s.swapRecord(ctx, use.Record, l)
		if err != nil {
			return err
		}
		p.draft.records[use.Record.Name()] = recordDraft{lifecycle: stored, frozen: r.frozen}
	}
	return nil
}
