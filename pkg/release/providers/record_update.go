// Package providers plans and makes the changes of providers, and brings each
// external-dns to its cluster.
package providers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/cleanup"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Updater updates providers.
type Updater struct {
	*state.Store
	Tenancy   *tenancy.Keeper
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry
	Removal   *removal.Guard
	Renderer  *render.Renderer
	Cleanups  *cleanup.Keeper

	lastFollowed sync.Map // of records, by path: the state that their users have last been woken for
	usersMoved   sync.Map // of records that move, by path
}

// PlanRecord tells what an update of a record would do to what is deployed of
// it, and changes nothing.
func (s *Updater) PlanRecord(ctx context.Context, record intent.Path, adopt string) (intent.Plan, error) {
	return state.RetryOnConflict(ctx, record, func(ctx context.Context) (intent.Plan, error) {
		p, err := s.proposeRecord(ctx, record, adopt)
		return p.View, err
	})
}

// UpdateRecord brings a provider as it is now to each of its deployed external-dns:
// parameters, credentials and, if the provider names one, another version. Parameter
// adopt, unless empty, is the owner id of an external-dns whose names it takes over. While
// that is under way, asking again changes nothing. Parameter confirm, unless empty, is the
// token of the accepted plan.
func (s *Updater) UpdateRecord(ctx context.Context, record intent.Path, adopt, confirm, actor string) (intent.Accepted, error) {
	return state.RetryOnConflict(ctx, record, func(ctx context.Context) (intent.Accepted, error) {
		return s.tryUpdateRecord(ctx, record, adopt, confirm, actor)
	})
}

// DeployRecord is UpdateRecord of a provider that is in use. A provider that is
// not in use is deployed by the first release that publishes through it.
func (s *Updater) DeployRecord(ctx context.Context, record intent.Path, r intent.DeployRequest) (intent.Deployed, error) {
	return state.RetryOnConflict(ctx, record, func(ctx context.Context) (intent.Deployed, error) {
		before, err := s.RecordLifecycle(ctx, record)
		if err == nil && !before.Deployed && r.Adopt == "" {
			_, err = s.Documents.Get(ctx, record)
			return intent.Deployed{Action: intent.NoAction}, err
		}
		if err != nil {
			return intent.Deployed{}, err
		}
		accepted, err := s.tryUpdateRecord(ctx, record, r.Adopt, r.Confirm, r.Actor)
		action := intent.Update
		if accepted.Revision == before.Seq {
			action = intent.NoAction
		}
		return intent.Deployed{Accepted: accepted, Action: action}, err
	})
}

func (s *Updater) tryUpdateRecord(ctx context.Context, record intent.Path, adopt, confirm, actor string) (intent.Accepted, error) {
	p, err := s.proposeRecord(ctx, record, adopt)
	if err != nil {
		return intent.Accepted{}, err
	}
	if confirm != "" && confirm != p.View.Token {
		return intent.Accepted{}, state.PlanChanged()
	}
	if len(p.View.Errors) > 0 {
		return intent.Accepted{}, &intent.Error{Code: intent.Conflict, Detail: string(record) + " cannot be updated; nothing was changed", Fields: p.View.Errors}
	}
	if p.Before.Seq > 0 && state.SameRecord(p.Before.Record, p.Frozen) && p.Adopting == p.Before.Adopting {
		return intent.Accepted{ContextID: p.Before.ContextID, Revision: p.Before.Seq}, nil
	}
	if confirm == "" {
		if err := (resolve.Removals{p.Removal}).Refuse("update", "see POST …/plan, and confirm it by ?confirm=<token>"); err != nil {
			return intent.Accepted{}, err
		}
	}
	next := p.Before
	next.Seq++
	if p.Moves() {
		if err := s.takeHome(ctx, p); err != nil {
			return intent.Accepted{}, err
		}
		next.Moving = true
	}
	next.Record, next.ContextID, next.PinnedAt, next.Trace, next.Adopting = p.Frozen, appcontext.NewID(), s.Now().UTC(), tracing.Parent(ctx), p.Adopting
	next.Events = append(slices.Clone(next.Events), intent.Event{
		Time: next.PinnedAt, Actor: actor, RequestID: intent.By(ctx).RequestID, Action: intent.Update, Revision: next.Seq, Outcome: "accepted", Message: p.Adopts(),
	})
	permits := map[intent.Path]guard.Permit{}
	for group, names := range p.Gone {
		permits[group] = guard.Permit{For: next.ContextID, Names: slices.Sorted(maps.Keys(names))}
	}
	if err := s.Removal.Permit(ctx, p.Frozen.Path, permits); err != nil {
		return intent.Accepted{}, err
	}
	if err := s.SaveRecord(ctx, p.Before, next); err != nil {
		return intent.Accepted{}, err
	}
	s.Logger.InfoContext(tracing.With(ctx, "contextID", next.ContextID), "accepted", "owner", record, "action", string(intent.Update), "revision", next.Seq)
	return intent.Accepted{ContextID: next.ContextID, Revision: next.Seq}, nil
}

func (s *Updater) proposeRecord(ctx context.Context, record intent.Path, adopt string) (*resolve.RecordProposal, error) {
	p := &resolve.RecordProposal{}
	if err := s.freezeUpdate(ctx, record, p); err != nil {
		return p, err
	}
	dead, err := s.Tenancy.CheckHomeAbandoned(ctx, p)
	if err != nil {
		return p, err
	}
	adoption, notes, err := s.adoption(ctx, p, adopt)
	if err != nil {
		return p, err
	}
	errs := slices.Concat(adoption, p.OwnerIDMoves(), p.ViewMoves(), dead)
	if !p.PublishesAlike() || p.Moves() {
		if p.Users, err = state.UsersOf(ctx, s.Store, record); err != nil {
			return p, err
		}
	}
	disabled, err := s.Resolver.Disable(ctx, p)
	if err != nil {
		return p, err
	}
	outside, err := s.Ownership.MarksOutside(ctx, p)
	if err != nil {
		return p, err
	}
	errs = slices.Concat(errs, disabled, outside)
	changes, findings, err := s.recordChanges(ctx, p)
	if err != nil {
		return p, err
	}
	for _, f := range findings {
		errs = append(errs, intent.Field{Pointer: string(record) + "#" + f.Pointer, Detail: f.Detail})
	}
	if p.Moves() {
		obstacles, err := s.preconditions(ctx, p)
		if err != nil {
			return p, err
		}
		errs = append(errs, obstacles...)
	}
	if p.Removal, err = s.Removal.RecordRemoval(ctx, p); err != nil {
		return p, err
	}
	if p.View, err = recordView(ctx, p, changes, errs); err != nil {
		return p, err
	}
	left, err := s.Tenancy.Orphans(ctx, changes)
	p.View.Warnings = slices.Concat(p.View.Warnings, notes, left)
	return p, err
}

// freezeUpdate reads a record as it is deployed, and as an update would have it.
func (s *Updater) freezeUpdate(ctx context.Context, record intent.Path, p *resolve.RecordProposal) error {
	doc, err := s.Documents.Get(ctx, record)
	if err != nil {
		return err
	}
	project, err := projectOf(ctx, s.Documents, record)
	if err != nil {
		return err
	}
	if p.Before, err = s.RecordLifecycle(ctx, record); err != nil {
		return err
	}
	if p.InUse, err = s.Resolver.InUse(ctx, record, p.Before); err != nil {
		return err
	}
	if p.Frozen, err = s.Freeze(doc, project, p.Before.Record.Home, p.Before); err != nil {
		return err
	}
	if to := p.Frozen.Spec.DeployOn.Ref(record); to != nil && p.Before.Deployed && p.Frozen.Home != nil {
		p.Frozen.Home = to
	}
	size, err := s.ZoneSize(ctx, p.Frozen)
	if err != nil {
		return err
	}
	state.SetPace(&p.Frozen, size, p.Before)
	return nil
}

// recordChanges compares every external-dns of a record, and the names that
// move with it, with how the frozen record would deploy them.
func (s *Updater) recordChanges(ctx context.Context, p *resolve.RecordProposal) ([]bundle.Change, []intent.Field, error) {
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(p.Frozen.Path)))
	if err != nil {
		return nil, nil, err
	}
	var changes []bundle.Change
	var findings []intent.Field
	for _, pointer := range pointers {
		part, found, err := s.providerChanges(ctx, pointer, p)
		if err != nil {
			return nil, nil, err
		}
		changes, findings = append(changes, part...), append(findings, found...)
	}
	if !p.PublishesAlike() {
		followed, gone, err := s.followChanges(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		if p.Moves() { // the rest of the plan tells of these where they go
			followed = slices.DeleteFunc(followed, func(c bundle.Change) bool { return moves(c.Before, p.Frozen) || moves(c.After, p.Frozen) })
		}
		changes, p.Gone = append(changes, followed...), gone
	}
	if !p.Moves() {
		return changes, findings, nil
	}
	moved, found, err := s.moveChanges(ctx, p)
	return append(changes, moved...), append(findings, found...), err
}

// providerChanges compares one external-dns with how an update would deploy it.
func (s *Updater) providerChanges(ctx context.Context, pointer appcontext.Pointer, p *resolve.RecordProposal) ([]bundle.Change, []intent.Field, error) {
	if pointer.ContextID == "" {
		return nil, nil, nil
	}
	before, err := s.Contexts.Objects(ctx, pointer)
	if err != nil {
		return nil, nil, err
	}
	_, scope, cluster, _ := pointer.Owner.Provider()
	use := state.Use{Record: p.Frozen.Path, Scope: intent.Scope(scope), Cluster: cluster}
	if moved := (&state.RecordLifecycle{Record: p.Frozen}).MovedFrom(use); moved {
		return render.Planned(before, nil), nil, nil
	}
	users, _, err := s.FirstUsers(ctx, use)
	if err != nil {
		return nil, nil, err
	}
	objects, findings, err := s.render(ctx, p, use, users)
	if err != nil || len(findings) > 0 {
		return nil, findings, err
	}
	after, err := bundle.Collect(objects)
	return render.Planned(before, after), nil, err
}

// render makes the objects of an external-dns as an update would have it, or
// says what of it cannot work there.
func (s *Updater) render(ctx context.Context, p *resolve.RecordProposal, use state.Use, users []string) ([]bundle.Object, []intent.Field, error) {
	ref, _ := intent.ParseCluster(use.Cluster)
	cluster, _, err := clusterSpec(ctx, s.Documents, ref)
	if err != nil {
		return nil, nil, err
	}
	next := state.RecordLifecycle{Adopting: p.Adopting}
	objects, findings, err := provider.Render(plan.Provider{
		Record: p.Frozen, Scope: use.Scope, Cluster: use.Cluster, Users: users, Adopts: next.Adopts(use.Scope), AdoptsSince: next.AdoptsSince(use.Scope),
	})
	return objects, append(findings, s.Resolver.InPlain(p.Frozen, use.Cluster, cluster)...), err
}

func recordView(ctx context.Context, p *resolve.RecordProposal, changes []bundle.Change, errs []intent.Field) (intent.Plan, error) {
	v := intent.Plan{Names: []intent.NameChange{}, Warnings: []string{}, Errors: []intent.Field{}}
	hash := sha256.New()
	fmt.Fprintln(hash, p.Before.Seq, p.Frozen.UID, p.Frozen.Revision)
	if p.Adopting != nil {
		fmt.Fprintln(hash, "adopt", p.Adopting.From, p.Adopting.Names)
	}
	var err error
	if v.Objects, v.ObjectsLeftOut, err = render.Objects(ctx, changes); err != nil {
		return v, err
	}
	for _, c := range changes {
		fmt.Fprintln(hash, c.Action, c.ID)
	}
	resolve.Removals{p.Removal}.Bind(hash)
	v.Errors = append(v.Errors, errs...)
	v.Names = append(v.Names, render.NameChanges(changes, nil, nil)...)
	state.TellAnswers(v.Names, map[string]plan.Record{p.Frozen.Name: p.Frozen})
	v.Warnings = slices.Concat(v.Warnings, resolve.Removals{p.Removal}.Warnings(), losses(v.Names))
	if !p.Before.Deployed {
		v.Warnings = append(v.Warnings, "nothing of the provider is deployed: the update takes effect at its first use")
	} else {
		v.Warnings = append(v.Warnings, upgrade(p.Before.Record.Version, p.Frozen)...)
		v.Warnings = append(v.Warnings, render.Redirected(p.Before.Record.Spec, p.Frozen.Spec)...)
	}
	v.Token = hex.EncodeToString(hash.Sum(nil)[:16])
	return v, nil
}

// losses tells of which names the last address of a type goes.
func losses(names []intent.NameChange) []string {
	var lost []string
	for _, n := range names {
		if n.Action == "delete" {
			lost = append(lost, n.Name+" "+n.Type)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return []string{"no address of " + state.Few(lost) + " is left to publish: the provider's allowPrivate and targetFilter exclude them all"}
}

// upgrade tells in words what another version of external-dns alters.
func upgrade(before string, record plan.Record) []string {
	from, errFrom := externaldns.ParseVersion(before)
	to, errTo := externaldns.ParseVersion(record.Version)
	if errFrom != nil || errTo != nil {
		return nil
	}
	spec := record.Spec
	words := externaldns.Upgrade(externaldns.Record{Provider: spec.Provider, Parameters: spec.Parameters, Environment: spec.Variables()}, from, to)
	if unchecked := externaldns.Unchecked(spec.ExtraArgs); from != to && len(unchecked) > 0 {
		words = append(words, fmt.Sprintf("external-dns %s may not know %s of extraArgs; they are passed on as they are", to, state.Few(unchecked)))
	}
	return words
}

func projectOf(ctx context.Context, documents intent.Store, path intent.Path) (plan.Project, error) {
	doc, err := documents.Get(ctx, intent.Join("projects", path.Segment("projects")))
	if err != nil {
		return plan.Project{}, err
	}
	project, err := intent.Of[intent.Project](doc)
	return plan.Project{Name: doc.Path.Name(), Namespace: project.Spec.Namespace}, err
}

// StepRecord brings every external-dns of a record to what its users need, and
// lets the groups that use it choose addresses by its rules.
func (s *Updater) StepRecord(ctx context.Context, record intent.Path) error {
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(record)))
	if err != nil {
		return err
	}
	for _, p := range pointers {
		path, scope, cluster, _ := p.Owner.Provider()
		if err := s.StepProvider(ctx, state.Use{Record: intent.Path(path), Scope: intent.Scope(scope), Cluster: cluster}); err != nil {
			return err
		}
	}
	l, err := s.RecordLifecycle(ctx, record)
	if err != nil {
		return err
	}
	used, err := state.Used(ctx, s.Store, record)
	if err != nil {
		return err
	}
	if l.Moving || l.Adopting != nil || l.Deployed && !used {
		s.WakeAt(record, s.Now().Add(state.LookAgain))
	}
	if err := followRecord(ctx, s, record, l); err != nil || used || len(pointers) > 0 {
		return err
	}
	// A request may have died between pinning the record and being accepted. The step of
	// an external-dns of no cluster finds that the record is unused.
	return s.StepProvider(ctx, state.Use{Record: record})
}

// followRecord wakes the groups and names that use a record, unless this process has done
// so since the record was last pinned, updated or moved.
func followRecord(ctx context.Context, s *Updater, record intent.Path, l state.RecordLifecycle) error {
	is := fmt.Sprint(l.Seq, l.ContextID, l.Moving)
	if was, known := s.lastFollowed.Load(record); known && was == is {
		return nil
	}
	err := state.EachUser(ctx, s.Store, record, s.WakeAll)
	if err == nil {
		s.lastFollowed.Store(record, is)
	}
	return err
}
