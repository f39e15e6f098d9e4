package release

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/guard"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// removal is what an action would take of a record's names.
type removal struct {
	record plan.Record
	gone   []string // that would go, ordered
	held   []string // that stay although nothing offers them an address, and would go if it is confirmed; ordered
	all    int      // how many there are; 0 where so few would go that nobody asks
}

// over says whether it has to be confirmed.
func (r removal) over() bool { return guard.Over(len(r.gone), r.all, maxRemoval(r.record)) }

func (r removal) String() string {
	return fmt.Sprintf("%d of the %d names of record %q, more than its maxRemoval of %d %%: %s", len(r.gone), r.all, r.record.Name, maxRemoval(r.record), few(r.gone))
}

// maxRemoval is how many percent of a record's names may go at once.
func maxRemoval(r plan.Record) int {
	if most := r.Spec.MaxRemoval; most != nil {
		return int(*most)
	}
	return guard.Default
}

// removals are what an action would take of the names of records.
type removals []removal

// refuse is the error of an action that takes too many names and that nobody has
// confirmed; nil: it may go on. what is the action in words, and remedy what would do.
func (all removals) refuse(what, remedy string) error {
	var fields []intent.Field
	for _, r := range all {
		if r.over() {
			fields = append(fields, intent.Field{Pointer: string(r.record.Path) + "#/spec/maxRemoval", Detail: fmt.Sprintf("%s would take away %s; %s", what, r, remedy)})
		}
	}
	if fields == nil {
		return nil
	}
	return &intent.Error{Code: intent.Conflict, Detail: "too many names would go; nothing was changed", Fields: fields}
}

// warnings are what a plan says of removals that have to be confirmed.
func (all removals) warnings() []string {
	var out []string
	for _, r := range all {
		if r.over() {
			out = append(out, fmt.Sprintf("takes away %s; it is refused unless confirmed by this plan's token", r))
		}
		if len(r.held) > 0 {
			out = append(out, fmt.Sprintf("%d names of record %q stay published although nothing offers them an address any more, for that is more than may go at once; confirmed by this plan's token, they go: %s",
				len(r.held), r.record.Name, few(r.held)))
		}
	}
	return out
}

// bind has a token cover the names that go, where they have to be confirmed: one of
// another plan confirms none of them.
func (all removals) bind(token io.Writer) {
	for _, r := range all {
		if r.over() || len(r.held) > 0 {
			fmt.Fprintln(token, "removes", r.record.Path, r.gone, r.held)
		}
	}
}

// confirmation says what a proposal is called, and how it is confirmed. EMCO cannot.
func (p *proposal) confirmation() (what, remedy string) {
	if p.appContext != "" {
		return "following app context " + p.appContext, raise
	}
	return string(p.action), fmt.Sprintf("see POST …/plan?for=%s, and confirm it by ?confirm=<token>", p.action)
}

// raise is what does where nobody can confirm.
const raise = "EMCO cannot confirm that; raise the record's maxRemoval and update the record, then try again"

// nameSet is a set of host names.
type nameSet map[string]bool

// published adds the host names of records that a DNSEndpoint publishes to those
// of all, by the record's name.
func published(all map[string]nameSet, endpoint []byte) {
	labels, sets := endpoints.Read(endpoint)
	record := labels[bundle.LabelRecord]
	for _, set := range sets {
		if all[record] == nil {
			all[record] = nameSet{}
		}
		all[record][set.Host] = true
	}
}

// removed are the host names of which changes leave nothing, by the record's name.
func removed(changes []bundle.Change) map[string]nameSet {
	before, after := map[string]nameSet{}, map[string]nameSet{}
	for _, c := range changes {
		if c.ID.Kind == endpointKind {
			published(before, c.Old)
			published(after, c.New)
		}
	}
	for record, left := range before {
		maps.DeleteFunc(left, func(name string, _ bool) bool { return after[record][name] })
	}
	return before
}

// removals are what the action of a proposal takes of each record's names.
func (s *Service) removals(ctx context.Context, p *proposal, changes []bundle.Change) (removals, error) {
	if p.action == intent.Terminate || p.draft.group.Path == "" {
		return nil, nil
	}
	gone := removed(changes)
	if p.appContext != "" { // what has no address now is no concern of EMCO's
		for name, hosts := range gone {
			wanted := p.draft.wanted(name, hosts)
			maps.DeleteFunc(hosts, func(host string, _ bool) bool { return wanted[host] })
		}
	}
	var out removals
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		record, known := p.draft.records[name]
		path := p.draft.in.recordPath(name)
		if !known {
			var err error
			if record.lifecycle, err = s.recordLifecycle(ctx, path); err != nil {
				return nil, err
			}
			record.frozen = record.lifecycle.Record
		}
		var held nameSet
		if p.lifecycle.held(path).Names > 0 {
			var err error
			if held, err = s.staysHeld(ctx, p, record.frozen, gone[name]); err != nil {
				return nil, err
			}
			maps.DeleteFunc(gone[name], func(host string, _ bool) bool { return held[host] })
		}
		r, err := s.removal(ctx, record.frozen, p.draft.group.Path, gone[name])
		if err != nil {
			return nil, err
		}
		r.held = slices.Sorted(maps.Keys(held))
		out = append(out, r)
	}
	return out, nil
}

// staysHeld are those of the names that nothing offers, or that are given up, which
// stay published after the action: they are asked for, and too many to go by themselves.
func (s *Service) staysHeld(ctx context.Context, p *proposal, record plan.Record, gone nameSet) (nameSet, error) {
	account, _, err := s.account(ctx, record.Path, record.UID)
	if err != nil {
		return nil, err
	}
	group, wanted := string(p.draft.group.Path), p.draft.wanted(record.Name, gone)
	loss := guard.Loss{Group: group, Names: slices.Sorted(maps.Keys(wanted)), Percent: maxRemoval(record), Now: s.Now()}
	_, held, err := account.Judge(loss, func() (guard.Published, error) {
		by, err := s.publishedBy(ctx, record.Path)
		maps.DeleteFunc(by[group], func(host string, _ bool) bool { return gone[host] && !wanted[host] })
		return by, err
	})
	stays := nameSet{}
	for _, host := range held {
		stays[host] = true
	}
	return stays, err
}

// wanted are those of a record's host names that the draft asks for.
func (d *draft) wanted(record string, of nameSet) nameSet {
	out := nameSet{}
	for _, b := range d.group.Bindings {
		for _, host := range b.Hosts {
			if b.Record == record && of[host.Name] {
				out[host.Name] = true
			}
		}
	}
	return out
}

// permitRemovals has names go, once a release is accepted, that it asks for and
// that nothing offers an address: a plan has told of them, and was confirmed.
func (s *Service) permitRemovals(ctx context.Context, p *proposal, contextID string) error {
	for _, r := range p.removals {
		gone := nameSet{}
		for _, name := range slices.Concat(r.gone, r.held) {
			gone[name] = true
		}
		wanted := slices.Sorted(maps.Keys(p.draft.wanted(r.record.Name, gone)))
		if len(wanted) == 0 {
			continue
		}
		if err := s.permit(ctx, r.record, guard.Permit{Group: string(p.draft.group.Path), For: contextID, Names: wanted}); err != nil {
			return err
		}
	}
	return nil
}

// letGo has names go of the current release that stay although nothing offers
// them an address: all that the plan has told of, which was confirmed.
func (s *Service) letGo(ctx context.Context, p *proposal, actor string) (intent.Accepted, error) {
	l := p.lifecycle
	if err := s.permitRemovals(ctx, p, l.ContextID); err != nil {
		return intent.Accepted{}, err
	}
	l.record(intent.Event{Time: s.Now().UTC(), Actor: actor, RequestID: intent.By(ctx).RequestID, Action: p.action, Revision: l.Seq, Outcome: "accepted", Message: "names without an address may go"})
	_, err := s.swap(ctx, p.draft.group.Path, l)
	s.wake(p.draft.group.Path)
	return intent.Accepted{ContextID: l.ContextID, Revision: l.Seq}, err
}

// checkRemovals refuses a release for an app context that would take away too many
// of the names that the group has now.
func (s *Service) checkRemovals(ctx context.Context, p *proposal) error {
	pointer, err := s.Contexts.Current(ctx, groupOwner(p.draft.group.Path))
	if err != nil {
		return err
	}
	now, err := s.Contexts.Objects(ctx, pointer)
	if err != nil {
		return err
	}
	next := *p
	next.appContext = p.draft.in.orchestration.ID
	if next.removals, err = s.removals(ctx, &next, bundle.Diff(now, nil)); err != nil {
		return err
	}
	return next.removals.refuse(next.confirmation())
}

// removal counts what goes of a record's names when a group gives some of them no
// more. What other groups give stays.
func (s *Service) removal(ctx context.Context, record plan.Record, group intent.Path, gone nameSet) (removal, error) {
	r := removal{record: record, gone: slices.Sorted(maps.Keys(gone))}
	if len(r.gone) <= guard.Few {
		return r, nil
	}
	given, err := s.given(ctx, record.Path)
	if err != nil {
		return r, err
	}
	all := maps.Clone(gone)
	for by, its := range given {
		maps.Copy(all, its)
		if by != group {
			r.gone = slices.DeleteFunc(r.gone, func(name string) bool { return its[name] })
		}
	}
	r.all = len(all)
	return r, nil
}

// given are the host names of a record that are in the current contexts of groups.
func (s *Service) given(ctx context.Context, record intent.Path) (map[intent.Path]nameSet, error) {
	groups, err := s.deployed(ctx, record)
	if err != nil {
		return nil, err
	}
	out := map[intent.Path]nameSet{}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		objects, err := s.currentEndpoints(ctx, group)
		if err != nil {
			return nil, err
		}
		all := map[string]nameSet{}
		for _, o := range objects {
			published(all, o.JSON)
		}
		out[group] = all[record.Name()]
	}
	return out, nil
}

// currentEndpoints are the DNSEndpoints in a group's current context.
func (s *Service) currentEndpoints(ctx context.Context, group intent.Path) (bundle.Bundle, error) {
	pointer, err := s.Contexts.Current(ctx, groupOwner(group))
	if err != nil {
		return nil, err
	}
	objects, err := s.Contexts.Objects(ctx, pointer)
	return slices.DeleteFunc(objects, func(o bundle.Object) bool { return o.Kind != endpointKind }), err
}

// recordRemoval is what a record's update takes of its names: those that its users
// would lose, and those that its external-dns would see to no more.
func (s *Service) recordRemoval(ctx context.Context, p *recordProposal) (removal, error) {
	r := removal{record: p.before.Record}
	if !p.before.Deployed {
		return r, nil
	}
	given, err := s.given(ctx, r.record.Path)
	if err != nil {
		return r, err
	}
	coverage := publishingOf(p.frozen).coverage
	all, stays := nameSet{}, nameSet{}
	for group, its := range given {
		for name := range its {
			all[name] = true
			if p.frozen.Spec.Provider == r.record.Spec.Provider && coverage.Covers(name) && !p.gone[group][name] {
				stays[name] = true
			}
		}
	}
	r.all = len(all)
	maps.DeleteFunc(all, func(name string, _ bool) bool { return stays[name] })
	r.gone = slices.Sorted(maps.Keys(all))
	return r, nil
}
