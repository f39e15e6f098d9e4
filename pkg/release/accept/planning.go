package accept

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Plan tells what an action would do to a group, and changes nothing. An empty
// action means instantiate when nothing is current, else update. to is the
// revision of a rollback, 0 for the one before the current.
func (s *Planner) Plan(ctx context.Context, owner intent.Path, action intent.Action, to int64) (intent.Plan, error) {
	return state.RetryOnConflict(ctx, owner, func(ctx context.Context) (intent.Plan, error) {
		view, err := tryPlan(ctx, s, owner, state.Request{Action: action, To: to})
		return view, snapshot.Again(err)
	})
}

func tryPlan(ctx context.Context, s *Planner, owner intent.Path, r state.Request) (intent.Plan, error) {
	ctx, end, err := readGroupAtOnce(ctx, s, owner)
	defer end()
	if err != nil {
		return intent.Plan{}, err
	}
	p, err := s.buildPlan(ctx, owner, r, true)
	if err == nil {
		s.Tenancy.WarnOfExistingRecords(ctx, p)
		err = errors.Join(s.Sharing.WarnOfPublishers(ctx, p), s.warnOfFormerDNS(ctx, p), listAddressless(ctx, s, p), warnOfSilence(ctx, s, p), warnOfDeadPublishers(ctx, s, p))
	}
	return p.View, err
}

// buildPlan tells what a request would do. Objects are in its view only where somebody is
// to see it: their differences are costly.
func (s *Planner) buildPlan(ctx context.Context, owner intent.Path, r state.Request, shown bool) (*resolve.Proposal, error) {
	p := &resolve.Proposal{Request: r}
	if err := s.resolveInputs(ctx, owner, p); err != nil {
		return p, err
	}
	if p.Action == intent.Terminate {
		p.Draft.Errors, p.Draft.Warnings = nil, nil
		switch err := s.relinquished(ctx, p); {
		case intent.CodeOf(err) == intent.Conflict:
			p.Draft.Warn("%s", err)
		case err != nil:
			return p, err
		}
	} else {
		if p.Action == intent.Rollback && shown && !p.Lifecycle.Deployed() {
			p.Draft.Fail(owner, "", onlyDeployed)
		}
		p.Draft.WarnOfSuspension()
		if err := s.Tenancy.CheckQuotas(ctx, p); err != nil {
			return p, err
		}
	}
	for _, check := range []func(context.Context, *resolve.Proposal) error{s.Offers.CheckOffers, s.Ownership.CheckNames, s.Ownership.CheckNamespaceClaims, s.Sharing.CheckTakeover, s.Tenancy.CheckOwnerInZone} {
		if err := check(ctx, p); err != nil {
			return p, err
		}
	}
	taken, err := s.weigh(ctx, p)
	if err != nil {
		return p, err
	}
	defer taken.Leave()
	var changes []bundle.Change
	if p.Draft.Group.Path != "" && !p.TooLarge {
		if changes, err = s.changes(ctx, p); err != nil {
			return p, err
		}
	}
	if p.Removals, err = s.Removal.Removals(ctx, p, changes); err != nil {
		return p, err
	}
	p.View = view(p, changes)
	if shown || p.Name != nil && p.Draft.In.Project.Spec.Names.RequirePlan {
		p.View.Objects, p.View.ObjectsLeftOut, err = render.Objects(ctx, changes)
	}
	return p, err
}

// resolveInputs reads what an action follows from, and drafts what it would make.
func (s *Planner) resolveInputs(ctx context.Context, owner intent.Path, p *resolve.Proposal) error {
	var l state.Lifecycle
	var err error
	if !intent.IsName(owner) { // which no orchestrator drives
		if l, err = s.StoredLifecycle(ctx, owner); err != nil {
			return err
		}
	}
	if p.Action == intent.Terminate && l.Orchestrated() {
		return s.depart(ctx, owner, p, l)
	}
	in, err := s.gatherTo(ctx, owner, p, l)
	if err != nil {
		return err
	}
	if p.Lifecycle, err = s.Lifecycle(ctx, owner, in.Owner.UID); err != nil {
		return err
	}
	if err := cmp.Or(checkName(p.Name, p.NameWas, p.Lifecycle.Name), checkRestored(p.Restores, p.Lifecycle.Seq)); err != nil {
		return err
	}
	if p.Action == "" {
		p.Action = p.Lifecycle.FollowingAction(p.AppContext)
	}
	switch {
	case p.AppContext != "":
		err = s.recallPrepared(ctx, p, in)
	case p.Action == intent.Rollback:
		err = s.Resolver.Recall(ctx, p, in)
	case state.IsCloud(owner):
		p.Draft, err = s.Resolver.DraftCloud(ctx, in, p.Lifecycle)
	case intent.IsName(owner):
		p.Draft, err = s.Resolver.DraftName(ctx, in)
	default:
		p.Draft, err = s.Resolver.Draft(ctx, in)
	}
	if err != nil {
		return err
	}
	if in.Orchestration != nil {
		foresee(p.Draft)
	}
	if p.Draft.Group.Path == "" {
		return nil
	}
	if err := readRest(ctx, s, p); err != nil {
		return err
	}
	if err := s.keepFormerDNS(ctx, p); err != nil {
		return err
	}
	return s.Tenancy.CheckTenancy(ctx, p.Draft)
}

// gatherTo reads what an action follows from, beside the releases of before.
func (s *Planner) gatherTo(ctx context.Context, owner intent.Path, p *resolve.Proposal, l state.Lifecycle) (*inputs.Inputs, error) {
	switch {
	case intent.IsName(owner):
		return s.Inputs.GatherName(ctx, owner, p.Name)
	case p.AppContext != "" || l.Orchestrated() && p.Action == intent.Rollback:
		return s.Inputs.ReadOwner(ctx, owner)
	case l.Orchestrated():
		return s.gatherOrchestrated(ctx, owner, l)
	}
	return s.Inputs.Gather(ctx, owner)
}

// changes compares the present state, of the group and of the providers that it uses or
// would use, with the result of the action.
func (s *Planner) changes(ctx context.Context, p *resolve.Proposal) ([]bundle.Change, error) {
	before, err := s.Contexts.CurrentObjects(ctx, state.GroupOwner(p.Draft.Group.Path))
	if err != nil {
		return nil, err
	}
	after, err := rendered(ctx, s, p, before)
	if err != nil {
		return nil, err
	}
	providersBefore, providersAfter, err := s.Providers(ctx, p)
	if err != nil {
		return nil, err
	}
	after = state.Union(after, providersAfter)
	if p.Action != intent.Terminate {
		checkSizes(p.Draft, after)
		if err := s.Tenancy.CheckHolders(ctx, p, after); err != nil {
			return nil, err
		}
	}
	changes := render.Planned(state.Union(before, providersBefore), after)
	if err := cmp.Or(s.Sharing.KeepShared(ctx, p, changes), s.Sharing.SeeBeside(ctx, p, changes)); err != nil {
		return nil, err
	}
	s.checkExistingDNS(ctx, p, changes, after)
	resolve.WarnOfPods(p.Draft, changes)
	if err := s.warnOfGap(ctx, p, before); err != nil {
		return nil, err
	}
	left, err := s.Tenancy.Orphans(ctx, changes)
	p.Draft.Warnings = append(p.Draft.Warnings, left...)
	return changes, err
}

// rendered are the objects of the group as they would be after the action, without those of
// providers.
func rendered(ctx context.Context, s *Planner, p *resolve.Proposal, before bundle.Bundle) (bundle.Bundle, error) {
	if p.Action == intent.Terminate {
		return nil, nil
	}
	drained, err := s.DrainedClusters(ctx)
	if err != nil {
		return nil, err
	}
	contents, err := render.Render(ctx, p.Draft.Group, p.Draft.Frozen(), drained.Clusters, before, s.Renderer.LiveSources(p))
	switch {
	case intent.CodeOf(err) == intent.Conflict:
		p.Draft.Fail(p.Draft.Group.Path, "/spec/apps", "%s", err)
	case err != nil:
		return nil, err
	}
	explain(p.Draft, contents)
	if p.AppContext == "" && len(p.Draft.Errors) == 0 { // an orchestrator's calls wait for no cluster
		noteMissing(ctx, s, p.Draft, contents)
	}
	p.Bytes = bytesOf(contents.Objects)
	return contents.Objects, s.Sharing.CheckSharing(ctx, p.Draft)
}

// bytesOf is how many bytes a context of these objects takes: each cluster's are
// stored for themselves.
func bytesOf(objects bundle.Bundle) (sum int) {
	for _, o := range objects {
		sum += len(o.JSON)
	}
	return sum
}

// checkSizes refuses objects that clusters would not take.
func checkSizes(d *resolve.Draft, objects bundle.Bundle) {
	for _, o := range objects {
		if len(o.JSON) <= bundle.MaxSize {
			continue
		}
		advice := "make it smaller"
		if o.Published != nil {
			advice = "give its names to several Services"
		}
		d.Fail(d.Group.Path, "", "%s would have %d KiB, and clusters take at most %d; %s", o.ID, len(o.JSON)>>10, bundle.MaxSize>>10, advice)
	}
}

// explain says what is to be said of the DNS of pods, and warns of what the
// choices of addresses leave open.
func explain(d *resolve.Draft, c render.Contents) {
	for _, f := range c.PodDNS {
		if f.Refused {
			d.Fail(f.Intent, f.Pointer, "%s", f.Detail)
		} else {
			d.Warn("%s", f.Detail)
		}
	}
	for n, choices := range c.Choices {
		b := d.Group.Bindings[n]
		for h, choice := range choices {
			explainChoice(d, b, choice)
			explainFamilies(d, b, b.Hosts[h], choice)
		}
	}
	for _, r := range c.DNS {
		if message := r.Message(); message != "" {
			d.Warn("DNS on %s: %s", r.Cluster, message)
		}
	}
}

func explainChoice(d *resolve.Draft, b plan.Binding, choice address.Choice) {
	for _, cluster := range choice.Unknown {
		d.Warn("the addresses of Service %s/%s on %s are not known yet, so the plan does not show them; they are published once Signpost has observed the Service there", b.Namespace, b.Service, cluster)
	}
	for _, cluster := range choice.Absent {
		d.Warn("there is no Service %s/%s on %s", b.Namespace, b.Service, cluster)
	}
	for _, cluster := range choice.Foreign {
		d.Warn("namespace %s of %s belongs to another project: Service %s is not published from there", b.Namespace, cluster, b.Service)
	}
	for _, r := range choice.Rejected {
		switch {
		case r.Code == address.Standby:
			continue // as the intent asks for
		case !choice.Some() && r.Kind == string(address.Fixed) && !address.Passes(r.Code): // its document alone would take the name out of DNS
			pointer := strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(r.Field)
			d.Fail(d.Group.Path, "/"+pointer, "%s cannot be published: %s; give another target, or change what the provider allows", r.Target, r.Reason)
			continue
		}
		of := ""
		if r.Kind != string(address.Fixed) {
			of = " of " + r.Object + " on " + r.Cluster
		}
		d.Warn("%s%s is not published: %s", r.Target, of, r.Reason)
	}
	for _, w := range slices.Concat(choice.Warnings, choice.Health) {
		d.Warn("%s", w)
	}
}

// explainFamilies warns of a name with both families where external-dns does not
// tell them apart.
func explainFamilies(d *resolve.Draft, b plan.Binding, host plan.Host, choice address.Choice) {
	var types []string
	for _, set := range endpoints.Sets(host, choice) {
		types = append(types, set.Type)
	}
	record := d.Records[b.Record].Frozen
	if slices.Contains(types, "A") && slices.Contains(types, "AAAA") && !resolve.PublishingOf(record).Abilities.DualStack {
		d.Warn("%s has IPv4 and IPv6 addresses; external-dns of provider %[3]q reads both back as one record with %[2]s, and writes one of them again in each interval; allow only A or only AAAA in recordTypes", host.Name, record.Spec.Provider, b.Record)
	}
}

// Providers are the objects, before and after, of every external-dns that the
// group uses now or would use.
func (s *Planner) Providers(ctx context.Context, p *resolve.Proposal) (before, after bundle.Bundle, err error) {
	uses := slices.Clone(p.Lifecycle.Uses)
	if !p.Lifecycle.Deployed() {
		uses = nil
	}
	if p.Action != intent.Terminate {
		uses = append(uses, p.Draft.Uses...)
	}
	slices.SortFunc(uses, state.CompareUses)
	uses = slices.Compact(uses)
	if stay, err := stayAsTheyAre(ctx, s, p, uses); stay || err != nil {
		return nil, nil, err
	}
	for _, use := range uses {
		pointer, err := s.Contexts.Current(ctx, use.Owner())
		if err != nil {
			return nil, nil, err
		}
		current, err := s.Contexts.Objects(ctx, pointer)
		if err != nil {
			return nil, nil, err
		}
		before = append(before, current...)
		wanted, err := s.provider(ctx, p, use)
		if err != nil {
			return nil, nil, err
		}
		after = append(after, wanted...)
	}
	return before, after, nil
}

// provider renders one external-dns as it would be after the action; nothing
// when nobody would use it any more.
func (s *Planner) provider(ctx context.Context, p *resolve.Proposal, use state.Use) ([]bundle.Object, error) {
	own, relies := string(p.Draft.Group.Path), p.Action != intent.Terminate && slices.Contains(p.Draft.Uses, use)
	users, _, err := s.FirstUsers(ctx, use)
	if err != nil {
		return nil, err
	}
	users = slices.DeleteFunc(users, func(u string) bool { return u == own })
	if relies {
		users = append(users, own)
	}
	if len(users) == 0 {
		return nil, nil
	}
	slices.Sort(users)
	record, known := p.Draft.Records[use.Record.Name()]
	if !known {
		if record.Lifecycle, err = s.RecordLifecycle(ctx, use.Record); err != nil {
			return nil, err
		}
		record.Frozen = record.Lifecycle.Record
	}
	objects, findings, err := provider.Render(plan.Provider{
		Record: record.Frozen, Scope: use.Scope, Cluster: use.Cluster, Users: users,
		Adopts: record.Lifecycle.Adopts(use.Scope), AdoptsSince: record.Lifecycle.AdoptsSince(use.Scope),
	})
	for _, f := range findings {
		if p.Action != intent.Terminate {
			p.Draft.Fail(use.Record, f.Pointer, "%s", f.Detail)
		}
	}
	return objects, err
}

// view writes the proposal down for users, with its token, and without its objects.
func view(p *resolve.Proposal, changes []bundle.Change) intent.Plan {
	v := intent.Plan{Names: []intent.NameChange{}, Warnings: []string{}, Errors: []intent.Field{}}
	v.Names = append(v.Names, render.NameChanges(slices.Concat(changes, p.Beside), p.PendingNames(), p.Given)...)
	state.TellAnswers(v.Names, p.Draft.Frozen())
	v.Warnings = slices.Concat(v.Warnings, p.Removals.Warnings(), p.Draft.Warnings)
	v.Errors, v.MissingServices = append(v.Errors, p.Draft.Errors...), p.Draft.Missing
	if p.Draft.In.Orchestration == nil { // else the orchestrator does it
		v.Token = token(p, changes)
	}
	return v
}

// token binds a plan to the revisions of its inputs, to its actions and to the names that
// it takes over. Addresses are left out, because they change by themselves. The names that come
// and go follow from the inputs and the current release. DNSEndpoints and the actions on
// names follow from addresses as well. They are left out, unless so many names would go
// that it has to be confirmed.
func token(p *resolve.Proposal, changes []bundle.Change) string {
	hash := sha256.New()
	fmt.Fprintln(hash, p.Action, p.To, p.Lifecycle.Seq, p.Lifecycle.Wanted)
	if p.Name != nil {
		fmt.Fprintln(hash, string(p.Name.Body))
	}
	for _, i := range slices.Concat(p.Draft.In.Inputs(), p.Draft.Inputs) {
		if p.Name != nil && i == p.Draft.In.Accepting {
			i.UID = "" // each request makes one for a new name
		}
		fmt.Fprintln(hash, i.Path, i.UID, i.Revision)
	}
	for _, c := range changes {
		if !c.ID.IsEndpoint() {
			fmt.Fprintln(hash, c.Action, c.ID.Cluster, c.ID.Kind, c.ID.Namespace, c.ID.Name)
		}
	}
	if p.Takeover != "" {
		fmt.Fprintln(hash, "takeover", p.Takeover, p.Taken)
	}
	p.Removals.Bind(hash)
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
