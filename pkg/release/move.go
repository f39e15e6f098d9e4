package release

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
)

// A record's update may move its public external-dns to another home. No name
// is to go meanwhile, so
//
//  1. the external-dns of the former home is withdrawn (leaveHome), while the
//     DNSEndpoints there stay,
//  2. every group that uses it follows: its DNSEndpoints are in both homes,
//  3. when the former external-dns is gone, and every DNSEndpoint is applied in
//     the new home, the one there, which had no pod so far, starts (stepMoving),
//  4. and the groups take their DNSEndpoints out of the former home.
//
// Its owner id is the same, so it takes the names over as they are.

// movedFrom says whether a use is of a home that the record has left.
func (l *RecordLifecycle) movedFrom(use Use) bool {
	home := l.Record.Home
	return use.Scope == intent.Public && home != nil && use.Cluster != home.String()
}

// rehomed is a use where the record lives now.
func (l *RecordLifecycle) rehomed(use Use) Use {
	if l.movedFrom(use) {
		use.Cluster = l.Record.Home.String()
	}
	return use
}

// moving says whether the external-dns of a scope is on its way to another home.
func (l *RecordLifecycle) moving(scope intent.Scope) bool { return l.Moving && scope == intent.Public }

// moves says whether the update takes what is deployed to another home.
func (p *recordProposal) moves() bool {
	was, is := p.before.Record.Home, p.frozen.Home
	return p.before.Deployed && was != nil && is != nil && *was != *is
}

// takeHome has the project's namespace at the new home claimed, before anything
// follows the record there.
func (s *Service) takeHome(ctx context.Context, p *recordProposal) error {
	changes, taken, err := s.claimHome(ctx, p)
	if err == nil && taken != "" {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: taken}
	}
	if err != nil {
		return err
	}
	return s.names().Write(ctx, changes)
}

// startMove notes that external-dns is to wait at its new home. What it had
// still to remove, it removes there.
func (l *RecordLifecycle) startMove(to intent.ClusterRef) {
	from := drainKey(intent.Public, l.Record.Home.String())
	l.Moving = true
	if drain, draining := l.Draining[from]; draining {
		l.Draining = maps.Clone(l.Draining)
		delete(l.Draining, from)
		l.Draining[drainKey(intent.Public, to.String())] = Drain{Targets: drain.Targets}
	}
}

// obstacles are what stands in the way of a move.
func (s *Service) obstacles(ctx context.Context, p *recordProposal) ([]intent.Field, error) {
	at := string(p.frozen.Path) + "#/spec/deployOn"
	stuck, err := s.abandoned(ctx, p.before.Record.Home.String())
	if err != nil {
		return nil, err
	}
	if p.before.Moving && !stuck {
		return []intent.Field{{Pointer: at, Detail: fmt.Sprintf("the record is still moving to %s; try again when it is there", p.before.Record.Home)}}, nil
	}
	var errs []intent.Field
	to := *p.frozen.Home
	cluster, known, err := s.clusterSpec(ctx, to)
	if err != nil {
		return nil, err
	}
	if _, why := s.unfit(to.String(), known, cluster, p.frozen.Project.Name); why != "" {
		errs = append(errs, intent.Field{Pointer: at, Detail: why})
	}
	_, taken, err := s.claimHome(ctx, p)
	if err != nil {
		return nil, err
	}
	if taken != "" {
		errs = append(errs, intent.Field{Pointer: at, Detail: taken})
	}
	groups, err := s.groupsOf(ctx, p.frozen.Path)
	if err != nil {
		return nil, err
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		suspended, err := s.suspended(ctx, group, groups[group])
		if err != nil {
			return nil, err
		}
		if suspended {
			errs = append(errs, intent.Field{Pointer: at, Detail: fmt.Sprintf("%s uses the record and is suspended, so its names cannot follow; resume it first", group)})
		}
	}
	return errs, nil
}

// clusterSpec reads a cluster's document; known says whether it has one.
func (s *Service) clusterSpec(ctx context.Context, ref intent.ClusterRef) (spec intent.Cluster, known bool, err error) {
	doc, err := s.Documents.Get(ctx, ref.Path())
	if intent.CodeOf(err) == intent.NotFound {
		return spec, false, nil
	}
	if err != nil {
		return spec, false, err
	}
	cluster, err := intent.Of[intent.Cluster](doc)
	return cluster.Spec, true, err
}

// groupsOf are the groups whose releases use a record's public scope.
func (s *Service) groupsOf(ctx context.Context, record intent.Path) (map[intent.Path]Lifecycle, error) {
	groups := map[intent.Path]Lifecycle{}
	err := s.eachGroup(ctx, record, func(group intent.Path, l Lifecycle) {
		if slices.ContainsFunc(l.Uses, func(u Use) bool { return u.Record == record && u.Scope == intent.Public }) {
			groups[group] = l
		}
	})
	return groups, err
}

// moveChanges are the external-dns at the new home, and the DNSEndpoints that
// follow it.
func (s *Service) moveChanges(ctx context.Context, p *recordProposal) ([]bundle.Change, []intent.Field, error) {
	groups, err := s.groupsOf(ctx, p.frozen.Path)
	if err != nil {
		return nil, nil, err
	}
	var users []string
	var before, after []bundle.Object
	use := Use{Record: p.frozen.Path, Scope: intent.Public, Cluster: p.frozen.Home.String()}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		users = append(users, string(group))
		now, err := s.wanted(ctx, groups[group], nil)
		if err != nil {
			return nil, nil, err
		}
		l := groups[group]
		l.Uses = append(slices.DeleteFunc(slices.Clone(l.Uses), func(u Use) bool { return u.Record == use.Record && u.Scope == use.Scope }), use)
		then, err := s.wanted(ctx, l, nil)
		if err != nil {
			return nil, nil, err
		}
		before, after = append(before, now.Objects...), append(after, then.Objects...)
	}
	objects, findings, err := s.render(ctx, p, use, users)
	if err != nil || len(findings) > 0 {
		return nil, findings, err
	}
	changes := planned(union(before), union(append(after, objects...)))
	return slices.DeleteFunc(changes, func(c bundle.Change) bool { return c.Action == bundle.Unchanged }), nil, nil
}

// leaveHome takes the external-dns of a former home away, used or not, and
// goes on at the new one.
func (s *Service) leaveHome(ctx context.Context, l RecordLifecycle, use Use, was appcontext.Pointer) error {
	switch {
	case was.ContextID != "":
		_, err := s.commit(ctx, was, appcontext.Context{})
		return err
	case l.Moving:
		use.Cluster = l.Record.Home.String()
		return s.StepProvider(ctx, use)
	}
	return s.undeploy(ctx, l)
}

// stepMoving has everything of the external-dns at the new home but a pod,
// until it may start there. Then the move is over.
func (s *Service) stepMoving(ctx context.Context, l RecordLifecycle, use Use, was appcontext.Pointer, users []string, leavers int) error {
	for _, ready := range []func(context.Context, Use) (bool, error){s.aloneAt, s.followedTo} {
		yes, err := ready(ctx, use)
		switch {
		case err != nil:
			return err
		case yes:
		case len(users) > 0:
			return s.provide(ctx, l, use, was, users)
		default:
			return nil
		}
	}
	l.Moving = false
	drain, draining := l.Draining[drainKey(use.Scope, use.Cluster)]
	if draining { // its time counts from now
		l.Draining = maps.Clone(l.Draining)
		l.Draining[drainKey(use.Scope, use.Cluster)] = Drain{Endpoints: drain.Endpoints, Targets: drain.Targets, Noted: drain.Noted}
	}
	if draining || len(users)+leavers > 0 {
		if err := s.provide(ctx, l, use, was, users); err != nil {
			return err
		}
	}
	_, err := s.swapRecord(ctx, use.Record, l)
	return err
}

// aloneAt says whether no other home holds anything of the record's external-dns.
func (s *Service) aloneAt(ctx context.Context, use Use) (bool, error) {
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(use.Record)))
	if err != nil {
		return false, err
	}
	for _, p := range pointers {
		_, scope, cluster, _ := p.Owner.Provider()
		if intent.Scope(scope) != intent.Public || cluster == use.Cluster {
			continue
		}
		if left, err := s.left(ctx, p); err != nil || left || p.ContextID != "" {
			return false, err
		}
	}
	return true, nil
}

// publishing is what a group has now, where some of it stays for that reason alone.
func (s *Service) publishing(ctx context.Context, group intent.Path, l Lifecycle) (bundle.Bundle, error) {
	if len(l.Held) == 0 {
		return nil, nil
	}
	pointer, err := s.Contexts.Current(ctx, groupOwner(group))
	if err != nil {
		return nil, err
	}
	return s.Contexts.Objects(ctx, pointer)
}

// followedTo says whether every group that uses the record has its DNSEndpoints
// applied in the new home.
func (s *Service) followedTo(ctx context.Context, use Use) (bool, error) {
	groups, err := s.groupsOf(ctx, use.Record)
	if err != nil {
		return false, err
	}
	entries, _, err := s.Ledger.Cluster(ctx, use.Cluster)
	if err != nil {
		return false, err
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		l := groups[group]
		published, err := s.publishing(ctx, group, l)
		if err != nil {
			return false, err
		}
		next, err := s.wanted(ctx, l, published)
		if err != nil || !slices.Contains(l.Uses, use) {
			return false, err
		}
		for _, o := range next.Objects {
			if o.Kind != endpointKind || o.Cluster != use.Cluster || useOf(group, o.Cluster, o.JSON) != use {
				continue
			}
			applied := slices.ContainsFunc(entries, func(e ledger.Entry) bool {
				progress, _ := e.Progress(string(groupOwner(group)), o.Digest())
				return e.ID == o.ID && progress == ledger.Applied
			})
			if !applied {
				return false, nil
			}
		}
	}
	return true, nil
}
