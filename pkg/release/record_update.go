package release

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/guard"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/trail"
)

// recordProposal is a record's update thought through.
type recordProposal struct {
	before RecordLifecycle
	frozen plan.Record // the record as it is now
	view   intent.Plan

	adopting *intent.Adoption // nil: of nobody's names

	gone    map[intent.Path]nameSet // names that the groups which use it would take away by themselves
	removal removal
}

// PlanRecord tells what an update of a record would do to what is deployed of
// it, and changes nothing.
func (s *Service) PlanRecord(ctx context.Context, record intent.Path) (intent.Plan, error) {
	return undisturbed(record, func() (intent.Plan, error) {
		p, err := s.proposeRecord(ctx, record, "")
		return p.view, err
	})
}

// UpdateRecord brings a record as it is now to every external-dns that is
// deployed of it: parameters, credentials and, where the record names one,
// another version. confirm, unless empty, is the token of the plan that is
// accepted.
func (s *Service) UpdateRecord(ctx context.Context, record intent.Path, confirm, actor string) (intent.Accepted, error) {
	return undisturbed(record, func() (intent.Accepted, error) { return s.tryUpdateRecord(ctx, record, "", confirm, actor) })
}

func (s *Service) tryUpdateRecord(ctx context.Context, record intent.Path, adopt, confirm, actor string) (intent.Accepted, error) {
	p, err := s.proposeRecord(ctx, record, adopt)
	if err != nil {
		return intent.Accepted{}, err
	}
	if confirm != "" && confirm != p.view.Token {
		return intent.Accepted{}, replan()
	}
	if len(p.view.Errors) > 0 {
		return intent.Accepted{}, &intent.Error{Code: intent.Conflict, Detail: string(record) + " cannot be updated; nothing was changed", Fields: p.view.Errors}
	}
	if p.before.Seq > 0 && sameRecord(p.before.Record, p.frozen) && p.adopting == p.before.Adopting {
		return intent.Accepted{ContextID: p.before.ContextID, Revision: p.before.Seq}, nil
	}
	if confirm == "" {
		if err := (removals{p.removal}).refuse("update", "see POST …/plan, and confirm it by ?confirm=<token>"); err != nil {
			return intent.Accepted{}, err
		}
	}
	next := p.before
	next.Seq++
	if p.moves() {
		if err := s.takeHome(ctx, p); err != nil {
			return intent.Accepted{}, err
		}
		next.startMove(*p.frozen.Home)
	}
	next.Record, next.ContextID, next.PinnedAt, next.Trace, next.Adopting = p.frozen, appcontext.NewID(), s.Now().UTC(), trail.Parent(ctx), p.adopting
	accepts := intent.Event{Time: next.PinnedAt, Actor: actor, RequestID: intent.By(ctx).RequestID, Action: intent.Update, Revision: next.Seq, Outcome: "accepted", Message: p.adopts()}
	next.Events = append(slices.Clone(next.Events), accepts)
	for group, names := range p.gone {
		if err := s.permit(ctx, p.frozen, guard.Permit{Group: string(group), For: next.ContextID, Names: slices.Sorted(maps.Keys(names))}); err != nil {
			return intent.Accepted{}, err
		}
	}
	if _, err := s.swapRecord(ctx, record, next); err != nil {
		return intent.Accepted{}, err
	}
	s.tell(ctx, record, accepts)
	s.wake(record)
	s.Logger.InfoContext(trail.With(ctx, "contextID", next.ContextID), "accepted", "owner", record, "action", string(intent.Update), "revision", next.Seq)
	return intent.Accepted{ContextID: next.ContextID, Revision: next.Seq}, nil
}

func (s *Service) proposeRecord(ctx context.Context, record intent.Path, adopt string) (*recordProposal, error) {
	p := &recordProposal{}
	if err := s.freezeUpdate(ctx, record, p); err != nil {
		return p, err
	}
	dead, err := s.deadHome(ctx, p)
	if err != nil {
		return p, err
	}
	adoption, notes, err := s.adoption(ctx, p, adopt)
	if err != nil {
		return p, err
	}
	errs := slices.Concat(adoption, p.ownerIDMoves(), p.viewMoves(), dead)
	disabled, err := s.disable(ctx, p.frozen)
	if err != nil {
		return p, err
	}
	errs = append(errs, disabled...)
	beside, err := s.besideOthers(ctx, p)
	if err != nil {
		return p, err
	}
	errs = append(errs, beside...)
	changes, findings, err := s.recordChanges(ctx, p)
	if err != nil {
		return p, err
	}
	for _, f := range findings {
		errs = append(errs, intent.Field{Pointer: string(record) + "#" + f.Pointer, Detail: f.Detail})
	}
	if p.moves() {
		obstacles, err := s.obstacles(ctx, p)
		if err != nil {
			return p, err
		}
		errs = append(errs, obstacles...)
	}
	if p.removal, err = s.recordRemoval(ctx, p); err != nil {
		return p, err
	}
	p.view = recordView(p, changes, errs)
	left, err := s.leaveBehind(ctx, changes)
	p.view.Warnings = slices.Concat(p.view.Warnings, notes, left)
	return p, err
}

// freezeUpdate reads a record as it is deployed, and as an update would have it.
func (s *Service) freezeUpdate(ctx context.Context, record intent.Path, p *recordProposal) error {
	doc, err := s.Documents.Get(ctx, record)
	if err != nil {
		return err
	}
	project, err := s.projectOf(ctx, record)
	if err != nil {
		return err
	}
	if p.before, err = s.recordLifecycle(ctx, record); err != nil {
		return err
	}
	if p.frozen, err = s.freeze(doc, project, p.before.Record.Home, p.before); err != nil {
		return err
	}
	if to := p.frozen.Spec.DeployOn; to != nil && p.before.Deployed && p.frozen.Home != nil {
		p.frozen.Home = to
	}
	size, err := s.zoneSize(ctx, p.frozen)
	if err != nil {
		return err
	}
	setPace(&p.frozen, size, p.before)
	return nil
}

// recordChanges compares every external-dns of a record, and the names that
// move with it, with how the frozen record would deploy them.
func (s *Service) recordChanges(ctx context.Context, p *recordProposal) ([]bundle.Change, []intent.Field, error) {
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(p.frozen.Path)))
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
	followed, gone, err := s.followChanges(ctx, p.frozen)
	if p.gone = gone; err != nil || !p.moves() {
		return append(changes, followed...), findings, err
	}
	moved, found, err := s.moveChanges(ctx, p)
	return append(changes, moved...), append(findings, found...), err
}

// ownerIDMoves refuses another owner id for what is deployed: external-dns would
// let go of every name that it has published.
func (p *recordProposal) ownerIDMoves() []intent.Field {
	was, is := cmp.Or(ownOwnerID(p.before.Record.Spec), p.before.Record.OwnerID), p.frozen.OwnerID
	if !p.before.Deployed || p.before.Record.UID != p.frozen.UID || was == is {
		return nil
	}
	return []intent.Field{{
		Pointer: string(p.frozen.Path) + "#" + atOwnerID,
		Detail:  fmt.Sprintf("the record is deployed with the owner id %q, and its names carry it; with %q they would be nobody's. Terminate its users first", was, is),
	}}
}

// providerChanges compares one external-dns with how an update would deploy it.
func (s *Service) providerChanges(ctx context.Context, pointer appcontext.Pointer, p *recordProposal) ([]bundle.Change, []intent.Field, error) {
	if pointer.ContextID == "" {
		return nil, nil, nil
	}
	before, err := s.Contexts.Objects(ctx, pointer)
	if err != nil {
		return nil, nil, err
	}
	_, scope, cluster, _ := pointer.Owner.Provider()
	use := Use{Record: p.frozen.Path, Scope: intent.Scope(scope), Cluster: cluster}
	if moved := (&RecordLifecycle{Record: p.frozen}).movedFrom(use); moved {
		return planned(before, nil), nil, nil
	}
	users, err := s.users(ctx, use)
	if err != nil {
		return nil, nil, err
	}
	objects, findings, err := s.render(ctx, p, use, users)
	if err != nil || len(findings) > 0 {
		return nil, findings, err
	}
	after, err := bundle.Collect(objects)
	return planned(before, after), nil, err
}

// render makes the objects of an external-dns as an update would have it, or
// says what of it cannot work there.
func (s *Service) render(ctx context.Context, p *recordProposal, use Use, users []string) ([]bundle.Object, []intent.Field, error) {
	ref, _ := intent.ParseCluster(use.Cluster)
	cluster, _, err := s.clusterSpec(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	adopts := (&RecordLifecycle{Adopting: p.adopting}).adopts(use.Scope)
	objects, findings, err := provider.Render(plan.Provider{Record: p.frozen, Scope: use.Scope, Cluster: use.Cluster, Users: users, Adopts: adopts})
	return objects, append(findings, s.inPlain(p.frozen, use.Cluster, cluster)...), err
}

func recordView(p *recordProposal, changes []bundle.Change, errs []intent.Field) intent.Plan {
	v := intent.Plan{Objects: []intent.ObjectChange{}, Names: []intent.NameChange{}, Warnings: []string{}, Errors: []intent.Field{}}
	hash := sha256.New()
	fmt.Fprintln(hash, p.before.Seq, p.frozen.UID, p.frozen.Revision)
	if p.adopting != nil {
		fmt.Fprintln(hash, "adopt", p.adopting.From, p.adopting.Names)
	}
	texts := diffs{}
	for _, c := range changes {
		v.Objects = append(v.Objects, objectChange(c, texts.of(c)))
		fmt.Fprintln(hash, c.Action, c.ID)
	}
	removals{p.removal}.bind(hash)
	v.Errors = append(v.Errors, errs...)
	v.Names = append(v.Names, nameChanges(changes, nil, nil)...)
	tellAnswers(v.Names, map[string]plan.Record{p.frozen.Name: p.frozen})
	v.Warnings = slices.Concat(v.Warnings, removals{p.removal}.warnings(), losses(v.Names))
	if !p.before.Deployed {
		v.Warnings = append(v.Warnings, "nothing of the record is deployed: it takes effect at its first use")
	} else {
		v.Warnings = append(v.Warnings, upgrade(p.before.Record.Version, p.frozen)...)
		v.Warnings = append(v.Warnings, redirected(p.before.Record.Spec, p.frozen.Spec)...)
	}
	v.Token = hex.EncodeToString(hash.Sum(nil)[:16])
	return v
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
	return []string{"nothing is left to publish of " + few(lost) + ": the record's allowPrivate and targetFilter hold it back"}
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
		words = append(words, fmt.Sprintf("whether external-dns %s takes %s of extraArgs is not known: they are passed on as they are", to, few(unchecked)))
	}
	return words
}

func (s *Service) projectOf(ctx context.Context, path intent.Path) (plan.Project, error) {
	doc, err := s.Documents.Get(ctx, intent.Join("projects", path.Segment("projects")))
	if err != nil {
		return plan.Project{}, err
	}
	project, err := intent.Of[intent.Project](doc)
	return plan.Project{Name: doc.Path.Name(), Namespace: project.Spec.Namespace}, err
}

// StepRecord brings every external-dns of a record to what its users need, and
// lets the groups that use it choose addresses by its rules.
func (s *Service) StepRecord(ctx context.Context, record intent.Path) error {
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(record)))
	if err != nil {
		return err
	}
	for _, p := range pointers {
		path, scope, cluster, _ := p.Owner.Provider()
		if err := s.StepProvider(ctx, Use{Record: intent.Path(path), Scope: intent.Scope(scope), Cluster: cluster}); err != nil {
			return err
		}
	}
	users := 0
	err = s.eachGroup(ctx, record, func(group intent.Path, _ Lifecycle) {
		users++
		s.wake(group)
	})
	if err != nil || users > 0 || len(pointers) > 0 {
		return err
	}
	// A request may have died between pinning the record and being accepted.
	l, err := s.recordLifecycle(ctx, record)
	if err != nil {
		return err
	}
	return s.undeploy(ctx, l)
}

// IsRecord tells a record's path from a group's.
func IsRecord(owner intent.Path) bool {
	return strings.HasSuffix(owner.Collection(), "/dns-update-records")
}
