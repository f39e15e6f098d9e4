// Package removal keeps names from going in large numbers: it judges what a
// release would remove, and retains what nobody has confirmed.
package removal

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Guard judges removals.
type Guard struct {
	*state.Store

	heldNow  retainedNow
	counting singleflight.Group
	counts   sync.Map         // by record: its last count
	suspects map[string]int64 // revisions of what the last sweep has found, by key
}

// collectHosts adds the host names that a DNSEndpoint publishes to those of all,
// by the provider's name; nil: none.
func collectHosts(all map[string]state.NameSet, p *bundle.Published) {
	if p == nil {
		return
	}
	if all[p.Record] == nil {
		all[p.Record] = state.NameSet{}
	}
	for _, name := range p.Names {
		all[p.Record][name.Host] = true
	}
}

// Removed are the host names of which changes leave nothing, by the record's name.
func Removed(changes []bundle.Change) map[string]state.NameSet {
	before, after := map[string]state.NameSet{}, map[string]state.NameSet{}
	for _, c := range changes {
		collectHosts(before, c.Before)
		collectHosts(after, c.After)
	}
	for record, left := range before {
		maps.DeleteFunc(left, func(name string, _ bool) bool { return after[record][name] })
	}
	return before
}

// Removals are what the action of a proposal takes of each record's names.
func (s *Guard) Removals(ctx context.Context, p *resolve.Proposal, changes []bundle.Change) (resolve.Removals, error) {
	if p.Action == intent.Terminate || p.Draft.Group.Path == "" {
		return nil, nil
	}
	gone := Removed(changes)
	if p.AppContext != "" { // what has no address now is no concern of an orchestrator
		for name, hosts := range gone {
			wanted := wantedNames(p.Draft, name, hosts)
			maps.DeleteFunc(hosts, func(host string, _ bool) bool { return wanted[host] })
		}
	}
	var out resolve.Removals
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		record, known := p.Draft.Records[name]
		path := p.Draft.In.RecordPath(name)
		if !known {
			var err error
			if record.Lifecycle, err = s.RecordLifecycle(ctx, path); err != nil {
				return nil, err
			}
			record.Frozen = record.Lifecycle.Record
		}
		var held state.NameSet
		if p.Lifecycle.RetainedOf(path).Names > 0 {
			var err error
			if held, err = s.staysRetained(ctx, p, record.Frozen, gone[name]); err != nil {
				return nil, err
			}
			maps.DeleteFunc(gone[name], func(host string, _ bool) bool { return held[host] })
		}
		r, err := s.removal(ctx, record.Frozen, p.Draft.Group.Path, gone[name])
		if err != nil {
			return nil, err
		}
		r.Held = slices.Sorted(maps.Keys(held))
		out = append(out, r)
	}
	return out, nil
}

// staysRetained are the names without an address, or given up, which stay published after
// the action. They are asked for, and too many to go by themselves.
func (s *Guard) staysRetained(ctx context.Context, p *resolve.Proposal, record plan.Record, gone state.NameSet) (state.NameSet, error) {
	group, wanted := p.Draft.Group, wantedNames(p.Draft, record.Name, gone)
	loss := guard.Loss{Names: slices.Sorted(maps.Keys(wanted)), Percent: state.MaxRemoval(record), Now: s.Now()}
	b, err := s.open(ctx, record.Path, record.UID, group.Path, loss.Now)
	if err != nil {
		return nil, err
	}
	givenUp := maps.Clone(gone)
	maps.DeleteFunc(givenUp, func(host string, _ bool) bool { return wanted[host] })
	_, held, err := s.judge(ctx, b, group, loss, givenUp, mostCompared)
	stays := state.NameSet{}
	for _, host := range held {
		stays[host] = true
	}
	return stays, err
}

// wantedNames are those of a record's host names that the draft asks for.
func wantedNames(d *resolve.Draft, record string, of state.NameSet) state.NameSet {
	out := state.NameSet{}
	for _, b := range d.Group.Bindings {
		for _, host := range b.Hosts {
			if b.Record == record && of[host.Name] {
				out[host.Name] = true
			}
		}
	}
	return out
}

// AcceptRemovals permits the removal of names that the release of a lifecycle asks for and that have no address: a confirmed plan
// has listed them. The lifecycle tells of each permit, so that the group's steps use it up.
func (s *Guard) AcceptRemovals(ctx context.Context, p *resolve.Proposal, next *state.Lifecycle) error {
	for record := range permitted(p) {
		next.ExpectRemovals(record)
	}
	return s.permitRemovals(ctx, p, next.ContextID)
}

func (s *Guard) permitRemovals(ctx context.Context, p *resolve.Proposal, contextID string) error {
	names := permitted(p)
	for _, record := range slices.Sorted(maps.Keys(names)) {
		if err := s.Permit(ctx, record, map[intent.Path]guard.Permit{p.Draft.Group.Path: {For: contextID, Names: names[record]}}); err != nil {
			return err
		}
	}
	return nil
}

// permitted are the names that a proposal asks for and would remove, by record.
func permitted(p *resolve.Proposal) map[intent.Path][]string {
	all := map[intent.Path][]string{}
	for _, r := range p.Removals {
		gone := state.NameSet{}
		for _, name := range slices.Concat(r.Gone, r.Held) {
			gone[name] = true
		}
		if wanted := slices.Sorted(maps.Keys(wantedNames(p.Draft, r.Record.Name, gone))); len(wanted) > 0 {
			all[r.Record.Path] = wanted
		}
	}
	return all
}

// ConfirmRemoval permits the removal of names of the current release that stay although
// they have no address: all that the confirmed plan has listed. The permit is written last, because a step
// uses it at once, also if the plan turns out to be outdated.
func (s *Guard) ConfirmRemoval(ctx context.Context, p *resolve.Proposal, actor string) (intent.Accepted, error) {
	l := p.Lifecycle
	l.Record(intent.Event{Time: s.Now().UTC(), Actor: actor, RequestID: intent.By(ctx).RequestID, Action: p.Action, Revision: l.Seq, Outcome: "accepted", Message: "names without an address may be removed"})
	if err := s.Swap(ctx, p.Draft.Group.Path, l); err != nil {
		return intent.Accepted{}, err
	}
	err := s.permitRemovals(ctx, p, l.ContextID)
	s.Wake(p.Draft.Group.Path)
	return intent.Accepted{ContextID: l.ContextID, Revision: l.Seq}, err
}

// CheckRemovals refuses a release for an app context that would take away too many
// of the names that the group has now.
func (s *Guard) CheckRemovals(ctx context.Context, p *resolve.Proposal) error {
	now, err := s.Contexts.CurrentObjects(ctx, state.GroupOwner(p.Draft.Group.Path))
	if err != nil {
		return err
	}
	next := *p
	next.AppContext = p.Draft.In.Orchestration.ID
	if next.Removals, err = s.Removals(ctx, &next, bundle.Diff(now, nil)); err != nil {
		return err
	}
	return next.Removals.Refuse(next.Confirmation())
}

// removal counts the names of a provider that are removed when a group gives up some of
// them. Names that other groups give stay.
func (s *Guard) removal(ctx context.Context, record plan.Record, group intent.Path, gone state.NameSet) (resolve.Removal, error) {
	r := resolve.Removal{Record: record, Gone: slices.Sorted(maps.Keys(gone))}
	if len(r.Gone) <= guard.Few {
		return r, nil
	}
	all := maps.Clone(gone)
	err := s.givenByAll(ctx, record.Path, func(by intent.Path, its state.NameSet) {
		maps.Copy(all, its)
		if by != group {
			r.Gone = slices.DeleteFunc(r.Gone, func(name string) bool { return its[name] })
		}
	})
	r.All = len(all)
	return r, err
}

// given are the host names of a record that are in the current contexts of those users that are deployed.
func (s *Guard) given(ctx context.Context, record intent.Path, users map[intent.Path]state.Lifecycle) (map[intent.Path]state.NameSet, error) {
	out := map[intent.Path]state.NameSet{}
	published := func(ctx context.Context, names []intent.Path) (context.Context, func(), error) {
		return ahead.Published(ctx, s.Store, names, ahead.Reads{})
	}
	return out, ahead.Each(ctx, users, published, func(ctx context.Context, owner intent.Path, l state.Lifecycle) error {
		if !l.Deployed() {
			return nil
		}
		its, err := s.givenBy(ctx, owner, record)
		out[owner] = its
		return err
	})
}

func (s *Guard) givenBy(ctx context.Context, owner, record intent.Path) (state.NameSet, error) {
	objects, err := s.CurrentEndpoints(ctx, owner)
	all := map[string]state.NameSet{}
	for _, o := range objects {
		collectHosts(all, o.Published)
	}
	return all[record.Name()], err
}

// givenByAll visits what all deployed users of a record give to it, as it is now. Of very many users, few are in memory at once.
func (s *Guard) givenByAll(ctx context.Context, record intent.Path, visit func(owner intent.Path, names state.NameSet)) (err error) {
	ctx = snapshot.Now(ctx)
	some := map[intent.Path]state.Lifecycle{}
	look := func() {
		given, failed := s.given(ctx, record, some)
		for owner, its := range given {
			visit(owner, its)
		}
		clear(some)
		err = cmp.Or(err, failed)
	}
	failed := s.EachGroup(ctx, record, func(owner intent.Path, l state.Lifecycle) {
		if err != nil {
			return
		}
		if some[owner] = l; len(some) == kv.MaxOps {
			look()
		}
	})
	if err == nil {
		look()
	}
	return cmp.Or(failed, err)
}

// RecordRemoval is the effect of a provider's update on its names. They are the names
// that users would lose, and those that external-dns would no longer manage.
func (s *Guard) RecordRemoval(ctx context.Context, p *resolve.RecordProposal) (resolve.Removal, error) {
	r := resolve.Removal{Record: p.Before.Record}
	if !p.Before.Deployed || p.PublishesAlike() {
		return r, nil
	}
	given, err := s.given(ctx, r.Record.Path, p.Users)
	if err != nil {
		return r, err
	}
	coverage := resolve.PublishingOf(p.Frozen).Coverage
	all, stays := state.NameSet{}, state.NameSet{}
	for group, its := range given {
		for name := range its {
			all[name] = true
			if p.Frozen.Spec.Provider == r.Record.Spec.Provider && coverage.Covers(name) && !p.Gone[group][name] {
				stays[name] = true
			}
		}
	}
	r.All = len(all)
	maps.DeleteFunc(all, func(name string, _ bool) bool { return stays[name] })
	r.Gone = slices.Sorted(maps.Keys(all))
	return r, nil
}
