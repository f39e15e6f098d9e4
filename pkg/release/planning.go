package release

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
)

// Plan tells what an action would do to a group, and changes nothing. An empty
// action means instantiate when nothing is current, else update. to is the
// revision of a rollback, 0 for the one before the current.
func (s *Service) Plan(ctx context.Context, owner intent.Path, action intent.Action, to int64) (intent.Plan, error) {
	return undisturbed(owner, func() (intent.Plan, error) {
		p, err := s.propose(ctx, owner, request{action: action, to: to})
		if err == nil {
			s.warnOfStrangers(ctx, p)
			err = errors.Join(s.warnOfGivers(ctx, p), s.warnOfFormerDNS(ctx, p))
		}
		return p.view, err
	})
}

// proposal is an action thought through: the release that it would make, and
// how the clusters' objects would change.
type proposal struct {
	request
	lifecycle Lifecycle
	draft     *draft
	view      intent.Plan
	removals  removals
	message   string                            // of the event, when it is accepted
	taken     []string                          // names that takeover is yet to yield
	given     map[nameKey][]string              // the targets of these, as they are published until then
	regains   bool                              // names that the group has yielded, and may have again
	clears    bool                              // it takes away the DNS services that others have replaced, and nothing else
	bids      []bid                             // the names and namespaces of the draft
	claims    map[nameclaim.Key]nameclaim.Claim // of the bids, as they were read
}

func (s *Service) propose(ctx context.Context, owner intent.Path, r request) (*proposal, error) {
	p := &proposal{request: r}
	if err := s.outline(ctx, owner, p); err != nil {
		return p, err
	}
	if p.action == intent.Terminate {
		p.draft.errors, p.draft.warnings = nil, nil
		switch err := s.relinquished(ctx, p); {
		case intent.CodeOf(err) == intent.Conflict:
			p.draft.warn("%s", err)
		case err != nil:
			return p, err
		}
	} else {
		p.draft.warnOfSuspension()
		if err := s.checkQuotas(ctx, p); err != nil {
			return p, err
		}
	}
	for _, check := range []func(context.Context, *proposal) error{s.checkOffers, s.checkNames, s.checkNamespaceClaims, s.checkTakeover, s.checkOwnerInZone} {
		if err := check(ctx, p); err != nil {
			return p, err
		}
	}
	var changes []bundle.Change
	var err error
	if p.draft.group.Path != "" {
		if changes, err = s.changes(ctx, p); err != nil {
			return p, err
		}
	}
	if p.removals, err = s.removals(ctx, p, changes); err != nil {
		return p, err
	}
	p.view = view(p, changes)
	return p, nil
}

// outline reads what an action follows from, and drafts what it would make.
func (s *Service) outline(ctx context.Context, owner intent.Path, p *proposal) error {
	l, err := s.storedLifecycle(ctx, owner)
	if err != nil {
		return err
	}
	if p.action == intent.Terminate && l.orchestrated() {
		return s.depart(ctx, owner, p, l)
	}
	in, err := s.gatherTo(ctx, owner, p, l)
	if err != nil {
		return err
	}
	if p.lifecycle, err = s.lifecycle(ctx, owner, in.owner.UID); err != nil {
		return err
	}
	if p.action == "" {
		p.action = p.lifecycle.followingAction(p.appContext)
	}
	switch {
	case p.appContext != "":
		err = s.recallPrepared(ctx, p, in)
	case p.action == intent.Rollback:
		err = s.recall(ctx, p, in)
	case IsCloud(owner):
		p.draft, err = s.draftCloud(ctx, in, p.lifecycle)
	default:
		p.draft, err = s.draft(ctx, in)
	}
	if err != nil {
		return err
	}
	if in.orchestration != nil {
		p.draft.foresee()
	}
	if p.draft.group.Path == "" {
		return nil
	}
	if err := s.keepFormerDNS(ctx, p); err != nil {
		return err
	}
	return s.checkTenancy(ctx, p.draft)
}

// gatherTo reads what an action follows from, beside the releases of before.
func (s *Service) gatherTo(ctx context.Context, owner intent.Path, p *proposal, l Lifecycle) (*inputs, error) {
	switch {
	case p.appContext != "" || l.orchestrated() && p.action == intent.Rollback:
		return s.readOwner(ctx, owner)
	case l.orchestrated():
		return s.gatherOrchestrated(ctx, owner, l)
	}
	return s.gather(ctx, owner)
}

// changes compares what is current, of the group and of the providers that it
// uses or would use, with what the action would make of it.
func (s *Service) changes(ctx context.Context, p *proposal) ([]bundle.Change, error) {
	pointer, err := s.Contexts.Current(ctx, groupOwner(p.draft.group.Path))
	if err != nil {
		return nil, err
	}
	before, err := s.Contexts.Objects(ctx, pointer)
	if err != nil {
		return nil, err
	}
	var after bundle.Bundle
	if p.action != intent.Terminate {
		drained, err := s.drained(ctx)
		if err != nil {
			return nil, err
		}
		contents, err := fill(ctx, p.draft.group, p.draft.frozen(), drained.clusters, before, s.looking(p))
		switch {
		case intent.CodeOf(err) == intent.Conflict:
			p.draft.fail(p.draft.group.Path, "/spec/apps", "%s", err)
		case err != nil:
			return nil, err
		}
		explain(p.draft, contents)
		if err := s.checkSharing(ctx, p.draft); err != nil {
			return nil, err
		}
		after = contents.objects
	}
	providersBefore, providersAfter, err := s.providers(ctx, p)
	if err != nil {
		return nil, err
	}
	after = union(after, providersAfter)
	if p.action != intent.Terminate {
		p.draft.checkSizes(after)
		if err := s.checkHolders(ctx, p, after); err != nil {
			return nil, err
		}
	}
	changes := planned(union(before, providersBefore), after)
	s.checkStrangersDNS(ctx, p, changes, after)
	p.draft.warnOfPods(changes)
	left, err := s.leaveBehind(ctx, changes)
	p.draft.warnings = append(p.draft.warnings, left...)
	return changes, err
}

// union is what clusters make of the objects of several owners: where these
// differ, as when an earlier Signpost rendered some of them, the first counts.
func union(owners ...bundle.Bundle) bundle.Bundle {
	all := slices.Concat(owners...)
	slices.SortStableFunc(all, func(a, b bundle.Object) int { return bundle.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b bundle.Object) bool { return a.ID == b.ID })
}

// checkSizes refuses objects that clusters would not take.
func (d *draft) checkSizes(objects bundle.Bundle) {
	for _, o := range objects {
		if len(o.JSON) <= bundle.MaxSize {
			continue
		}
		advice := "make it smaller"
		if o.Kind == endpoints.Kind {
			advice = "give its names to several Services"
		}
		d.fail(d.group.Path, "", "%s would have %d KiB, and clusters take at most %d; %s", o.ID, len(o.JSON)>>10, bundle.MaxSize>>10, advice)
	}
}

// frozen are the records that the draft would deploy, by name.
func (d *draft) frozen() map[string]plan.Record {
	out := map[string]plan.Record{}
	for name, r := range d.records {
		out[name] = r.frozen
	}
	return out
}

// explain says what is to be said of the DNS of pods, and warns of what the
// choices of addresses leave open.
func explain(d *draft, c contents) {
	for _, f := range c.podDNS {
		if f.Refused {
			d.fail(f.Intent, f.Pointer, "%s", f.Detail)
		} else {
			d.warn("%s", f.Detail)
		}
	}
	for n, choices := range c.choices {
		b := d.group.Bindings[n]
		for h, choice := range choices {
			d.explainChoice(b, choice)
			d.explainFamilies(b, b.Hosts[h], choice)
		}
	}
	for _, r := range c.dns {
		if message := r.Message(); message != "" {
			d.warn("DNS on %s: %s", r.Cluster, message)
		}
	}
}

func (d *draft) explainChoice(b plan.Binding, choice address.Choice) {
	for _, cluster := range choice.Unknown {
		d.warn("the addresses of Service %s/%s on %s are not known yet", b.Namespace, b.Service, cluster)
	}
	for _, cluster := range choice.Absent {
		d.warn("there is no Service %s/%s on %s", b.Namespace, b.Service, cluster)
	}
	for _, r := range choice.Rejected {
		if r.Code == address.Standby {
			continue // as the intent asks for
		}
		d.warn("%s of %s on %s is not published: %s", r.Target, r.Object, r.Cluster, r.Reason)
	}
	for _, w := range slices.Concat(choice.Warnings, choice.Health) {
		d.warn("%s", w)
	}
}

// explainFamilies warns of a name with both families where external-dns does not
// tell them apart.
func (d *draft) explainFamilies(b plan.Binding, host plan.Host, choice address.Choice) {
	var types []string
	for _, set := range endpoints.Sets(host, choice) {
		types = append(types, set.Type)
	}
	record := d.records[b.Record].frozen
	if slices.Contains(types, "A") && slices.Contains(types, "AAAA") && !publishingOf(record).abilities.DualStack {
		d.warn("%s has IPv4 and IPv6 addresses: external-dns reads them back from provider %s of record %q as one, and writes one of them anew in each interval; allow A or AAAA alone in recordTypes to end that", host.Name, record.Spec.Provider, b.Record)
	}
}

// providers are the objects, before and after, of every external-dns that the
// group uses now or would use.
func (s *Service) providers(ctx context.Context, p *proposal) (before, after bundle.Bundle, err error) {
	uses := slices.Clone(p.lifecycle.Uses)
	if !p.lifecycle.deployed() {
		uses = nil
	}
	if p.action != intent.Terminate {
		uses = append(uses, p.draft.uses...)
	}
	slices.SortFunc(uses, compareUses)
	for _, use := range slices.Compact(uses) {
		pointer, err := s.Contexts.Current(ctx, use.owner())
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
func (s *Service) provider(ctx context.Context, p *proposal, use Use) ([]bundle.Object, error) {
	users, err := s.users(ctx, use)
	if err != nil {
		return nil, err
	}
	own := string(p.draft.group.Path)
	users = slices.DeleteFunc(users, func(u string) bool { return u == own })
	if p.action != intent.Terminate && slices.Contains(p.draft.uses, use) {
		users = append(users, own)
	}
	if len(users) == 0 {
		return nil, nil
	}
	slices.Sort(users)
	record, known := p.draft.records[use.Record.Name()]
	if !known {
		if record.lifecycle, err = s.recordLifecycle(ctx, use.Record); err != nil {
			return nil, err
		}
		record.frozen = record.lifecycle.Record
	}
	objects, findings, err := provider.Render(plan.Provider{
		Record: record.frozen, Scope: use.Scope, Cluster: use.Cluster, Users: users, Adopts: record.lifecycle.adopts(use.Scope),
	})
	for _, f := range findings {
		if p.action != intent.Terminate {
			p.draft.fail(use.Record, f.Pointer, "%s", f.Detail)
		}
	}
	return objects, err
}

func (u Use) owner() appcontext.Owner {
	return appcontext.ProviderOwner(string(u.Record), string(u.Scope), u.Cluster)
}

func groupOwner(path intent.Path) appcontext.Owner { return appcontext.Owner(path) }

// view writes the proposal down for users, with its token.
func view(p *proposal, changes []bundle.Change) intent.Plan {
	v := intent.Plan{Objects: []intent.ObjectChange{}, Names: []intent.NameChange{}, Warnings: []string{}, Errors: []intent.Field{}}
	texts := diffs{}
	for _, c := range changes {
		v.Objects = append(v.Objects, objectChange(c, texts.of(c)))
	}
	v.Names = append(v.Names, nameChanges(changes, p.pendingNames(), p.given)...)
	tellAnswers(v.Names, p.draft.frozen())
	v.Warnings = slices.Concat(v.Warnings, p.removals.warnings(), p.draft.warnings)
	v.Errors = append(v.Errors, p.draft.errors...)
	if p.draft.in.orchestration == nil { // else EMCO's orchestrator does it
		v.Token = token(p, v)
	}
	return v
}

func objectChange(c bundle.Change, diff string) intent.ObjectChange {
	return intent.ObjectChange{
		Cluster: c.ID.Cluster, Action: string(c.Action), Kind: c.ID.Kind, Namespace: c.ID.Namespace, Name: c.ID.Name, Diff: diff,
	}
}

// token binds a plan to the revisions of its inputs, to its actions and to the
// names that it takes over, but not to addresses, which change by themselves. Which names come and go follows
// from the inputs and the current release; DNSEndpoints and the actions on
// names follow from addresses as well, and are left out, unless so many names
// would go that it has to be confirmed.
func token(p *proposal, v intent.Plan) string {
	hash := sha256.New()
	fmt.Fprintln(hash, p.action, p.to, p.lifecycle.Seq, p.lifecycle.Wanted)
	for _, i := range slices.Concat(p.draft.in.inputs(), p.draft.inputs) {
		fmt.Fprintln(hash, i.Path, i.UID, i.Revision)
	}
	for _, o := range v.Objects {
		if o.Kind != "DNSEndpoint" {
			fmt.Fprintln(hash, o.Action, o.Cluster, o.Kind, o.Namespace, o.Name)
		}
	}
	if p.takeover != "" {
		fmt.Fprintln(hash, "takeover", p.takeover, p.taken)
	}
	p.removals.bind(hash)
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// pendingNames are the names that the release would have whatever addresses
// its clusters offer.
func (p *proposal) pendingNames() []nameKey {
	var keys []nameKey
	if p.action == intent.Terminate {
		return nil
	}
	for _, b := range p.draft.group.Bindings {
		for _, h := range b.Hosts {
			keys = append(keys, nameKey{name: h.Name, record: b.Record})
		}
	}
	return keys
}

// nameKey identifies a published name; the type is empty where no address is
// known yet.
type nameKey struct{ name, kind, record string }

func compareNames(a, b nameKey) int {
	return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.kind, b.kind), strings.Compare(a.record, b.record))
}

// nameChanges reads the changes of names out of the changes of DNSEndpoints.
// A pending name that no DNSEndpoint holds is created without targets. What another
// group publishes until this one does is changed, or stays, and is not created.
func nameChanges(changes []bundle.Change, pending []nameKey, given map[nameKey][]string) []intent.NameChange {
	before, after := map[nameKey][]string{}, map[nameKey][]string{}
	for _, c := range changes {
		if c.ID.Kind == "DNSEndpoint" {
			collectNames(c.Old, before)
			collectNames(c.New, after)
		}
	}
	published := map[nameKey]bool{}
	for key := range after {
		key.kind = ""
		published[key] = true
	}
	addGiven(before, after, published, given)
	for _, key := range pending {
		if !published[key] {
			key.kind = "A"
			after[key] = nil
		}
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.SortFunc(keys, compareNames)
	var out []intent.NameChange
	for _, key := range slices.Compact(keys) {
		out = append(out, nameChange(key, before, after))
	}
	return out
}

// addGiven has what another group publishes be there before: until this group has
// addresses for a name, the other one goes on.
func addGiven(before, after map[nameKey][]string, published map[nameKey]bool, given map[nameKey][]string) {
	for key, targets := range given {
		at := nameKey{name: key.name, record: key.record}
		_, was := before[key]
		_, is := after[key]
		switch {
		case !was && is:
			before[key] = targets
		case !was && !published[at]:
			before[key], after[key] = targets, targets
		}
	}
	for key := range given {
		published[nameKey{name: key.name, record: key.record}] = true
	}
}

func nameChange(key nameKey, before, after map[nameKey][]string) intent.NameChange {
	old, was := before[key]
	wanted, is := after[key]
	change := intent.NameChange{Name: key.name, Type: key.kind, Record: key.record, Targets: []string{}}
	change.Targets = append(change.Targets, wanted...)
	switch {
	case !is:
		change.Action, change.Targets = "delete", append(change.Targets, old...)
	case !was:
		change.Action = "create"
	case slices.Equal(old, wanted):
		change.Action = "unchanged"
	default:
		change.Action = "update"
	}
	return change
}

func collectNames(raw []byte, into map[nameKey][]string) {
	labels, sets := endpoints.Read(raw)
	for _, n := range sets {
		key := nameKey{name: cmp.Or(n.Name, n.Host), kind: n.Type, record: labels[bundle.LabelRecord]}
		into[key] = slices.Compact(slices.Sorted(slices.Values(append(into[key], n.Targets...))))
	}
}
