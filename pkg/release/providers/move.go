package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// takeHome has the project's namespace at the new home claimed, before anything
// follows the record there.
func (s *Updater) takeHome(ctx context.Context, p *resolve.RecordProposal) (err error) {
	if p.Users, err = state.UsersOf(ctx, s.Store, p.Frozen.Path); err != nil { // some may have come since the plan
		return err
	}
	changes, taken, err := s.Ownership.ClaimHome(ctx, p)
	if err == nil && taken != "" {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: taken}
	}
	if err != nil {
		return err
	}
	return s.Ownership.Names().Write(ctx, changes)
}

// preconditions are what stands in the way of a move.
func (s *Updater) preconditions(ctx context.Context, p *resolve.RecordProposal) ([]intent.Field, error) {
	at := string(p.Frozen.Path) + "#/spec/deployOn"
	stuck, err := s.IsAbandoned(ctx, p.Before.Record.Home.String())
	if err != nil {
		return nil, err
	}
	if p.Before.Moving && !stuck {
		return []intent.Field{{Pointer: at, Detail: fmt.Sprintf("the provider is still moving to %s; try again when the move is done", p.Before.Record.Home)}}, nil
	}
	var errs []intent.Field
	to := *p.Frozen.Home
	cluster, known, err := clusterSpec(ctx, s.Documents, to)
	if err != nil {
		return nil, err
	}
	if _, why := s.Resolver.Unfit(to.String(), known, cluster, p.Frozen.Project.Name); why != "" {
		errs = append(errs, intent.Field{Pointer: at, Detail: why})
	} else if !to.IsPublisher() && !cluster.For(intent.UseHome) {
		errs = append(errs, intent.Field{Pointer: at, Detail: intent.UseHome.Lacks(to.String(), resolve.HomeNeed(p.Frozen.Name))})
	}
	_, taken, err := s.Ownership.ClaimHome(ctx, p)
	if err != nil {
		return nil, err
	}
	if taken != "" {
		errs = append(errs, intent.Field{Pointer: at, Detail: taken})
	}
	for _, group := range slices.Sorted(maps.Keys(p.Users)) {
		l := p.Users[group]
		if !l.UsesPublic(p.Frozen.Path) {
			continue
		}
		suspended, err := s.Suspended(ctx, group, l)
		if err != nil {
			return nil, err
		}
		if suspended {
			errs = append(errs, intent.Field{Pointer: at, Detail: fmt.Sprintf("%s uses the provider and is suspended, so its names cannot follow; resume it first", group)})
		}
	}
	return errs, nil
}

// clusterSpec reads a cluster's document; known says whether it has one.
func clusterSpec(ctx context.Context, documents intent.Store, ref intent.ClusterRef) (spec intent.Cluster, known bool, err error) {
	if ref.IsPublisher() {
		return spec, true, nil
	}
	doc, err := documents.Get(ctx, ref.Path())
	if intent.CodeOf(err) == intent.NotFound {
		return spec, false, nil
	}
	if err != nil {
		return spec, false, err
	}
	cluster, err := intent.Of[intent.Cluster](doc)
	return cluster.Spec, true, err
}

// moveChanges are the external-dns at the new home, and the DNSEndpoints that
// follow it.
func (s *Updater) moveChanges(ctx context.Context, p *resolve.RecordProposal) ([]bundle.Change, []intent.Field, error) {
	var users []string
	var changes []bundle.Change
	use := state.Use{Record: p.Frozen.Path, Scope: intent.Public, Cluster: p.Frozen.Home.String()}
	err := s.Renderer.Each(ctx, p.Users, func(ctx context.Context, owner intent.Path, l state.Lifecycle) error {
		if !l.UsesPublic(use.Record) {
			return nil
		}
		users = append(users, string(owner))
		part, err := s.takenAlong(ctx, owner, l, use, p.Frozen)
		changes = append(changes, part...)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	objects, findings, err := s.render(ctx, p, use, users)
	if err != nil || len(findings) > 0 {
		return nil, findings, err
	}
	after, err := bundle.Collect(objects)
	return append(changes, render.Planned(nil, after)...), nil, err
}

// takenAlong are the changes of one user whose record moves to where a use of it says, as it is from now on.
func (s *Updater) takenAlong(ctx context.Context, owner intent.Path, l state.Lifecycle, to state.Use, record plan.Record) ([]bundle.Change, error) {
	published, err := s.CurrentEndpoints(ctx, owner)
	if err != nil || !l.Deployed() {
		return nil, err
	}
	moved := l
	moved.Uses = []state.Use{to}
	for _, use := range l.Uses {
		if use.Record == to.Record && use.Scope == to.Scope {
			moved.Former = append(slices.Clip(moved.Former), use)
		} else {
			moved.Uses = append(moved.Uses, use)
		}
	}
	on, look, err := s.Renderer.Foresee(ctx, moved)
	if err != nil {
		return nil, err
	}
	records := maps.Clone(on.Records)
	records[record.Name] = record
	then, err := render.Render(ctx, on.Group, records, on.Drained.Clusters, published, look)
	if err != nil {
		return nil, err
	}
	var before, after bundle.Bundle
	for _, o := range published {
		if moves(o.Published, record) {
			before = append(before, o)
		}
	}
	for _, o := range then.Objects {
		if o.Published != nil && state.UseOf(owner, o.Cluster, o.Published) == to {
			after = append(after, o)
		}
	}
	return render.Planned(before, after), nil
}

// moves tells whether what is published goes along with a record; nil: it does not.
func moves(p *bundle.Published, record plan.Record) bool {
	return p != nil && p.Record == record.Name && p.Scope == string(intent.Public)
}

// leaveHome takes the external-dns of a former home away, used or not, and
// goes on at the new one.
func (s *Updater) leaveHome(ctx context.Context, on *providerStep) (state.Outcome, error) {
	switch {
	case !on.lifecycle.MovedFrom(on.use):
		return state.Onward, nil
	case on.was.ContextID != "":
		_, err := s.Commit(ctx, on.was, appcontext.Context{})
		return state.AtRest, err
	case on.lifecycle.Moving:
		on.use.Cluster = on.lifecycle.Record.Home.String()
		return state.Again, nil
	}
	return s.unused(ctx, on)
}

// move has everything of the external-dns at the new home but a pod, until it may
// start there. Then the move is over.
func (s *Updater) move(ctx context.Context, on *providerStep) (state.Outcome, error) {
	if !on.lifecycle.MovingIn(on.use.Scope) {
		return state.Onward, nil
	}
	for _, ready := range []func(context.Context, *providerStep) (bool, error){s.aloneAt, s.followedTo} {
		yes, err := ready(ctx, on)
		switch {
		case err != nil:
			return state.AtRest, err
		case yes:
		case len(on.users) > 0:
			return s.provide(ctx, on)
		default:
			return state.AtRest, nil
		}
	}
	cleaning, err := s.Cleanups.Restart(ctx, on.use)
	if err != nil {
		return state.AtRest, err
	}
	on.lifecycle.Moving = false
	if cleaning || on.leaving || len(on.users) > 0 {
		return s.provide(ctx, on)
	}
	return state.AtRest, nil
}

// aloneAt says whether no other home holds anything of the record's external-dns.
func (s *Updater) aloneAt(ctx context.Context, on *providerStep) (bool, error) {
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(on.use.Record)))
	if err != nil {
		return false, err
	}
	for _, p := range pointers {
		_, scope, cluster, _ := p.Owner.Provider()
		if intent.Scope(scope) != intent.Public || cluster == on.use.Cluster {
			continue
		}
		if left, err := s.Left(ctx, p); err != nil || left || p.ContextID != "" {
			return false, err
		}
	}
	return true, nil
}

// usersMoved is up to which of its users, in order, a record that moves has been seen to be followed. Nobody begins to use such a
// record, so none comes among them.
type usersMoved struct {
	use  state.Use
	seq  int64 // the release of the record that moves it
	last intent.Path
}

// followedAtOnce is how many users of a record that moves are looked at in one step, which may take several seconds.
const followedAtOnce = 2000

// followedTo says whether every group and name that uses the record has its DNSEndpoints
// applied in the new home. It goes on behind the last user that was seen to.
func (s *Updater) followedTo(ctx context.Context, on *providerStep) (all bool, err error) {
	is := usersMoved{use: on.use, seq: on.lifecycle.Seq}
	if before, known := s.usersMoved.Load(on.use.Record); known {
		if was, _ := before.(usersMoved); was.use == is.use && was.seq == is.seq {
			is = was
		}
	}
	defer func() { s.usersMoved.Store(on.use.Record, is) }()
	for looked := 0; looked < followedAtOnce; {
		users, err := state.UsersBehind(ctx, s.Store, on.use.Record, is.last, kv.MaxOps)
		if err != nil || len(users) == 0 {
			return err == nil, err
		}
		err = s.Renderer.Each(ctx, users, func(ctx context.Context, owner intent.Path, l state.Lifecycle) error {
			if followed, err := s.hasFollowed(ctx, owner, l, on.use); err != nil || !followed {
				return cmp.Or(err, errNotYet)
			}
			looked, is.last = looked+1, owner
			return nil
		})
		if errors.Is(err, errNotYet) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// errNotYet ends a look at users at the first one that has not followed.
var errNotYet = errors.New("a user has not followed yet")

// hasFollowed says whether the DNSEndpoints of a user are applied in the new home of its record.
func (s *Updater) hasFollowed(ctx context.Context, owner intent.Path, l state.Lifecycle, use state.Use) (bool, error) {
	published, err := s.CurrentEndpoints(ctx, owner) // some of it may stay for that reason alone
	if err != nil {
		return false, err
	}
	next, err := s.Renderer.Wanted(ctx, l, published)
	if err != nil || !slices.Contains(l.Uses, use) {
		return false, err
	}
	var wanted bundle.Bundle
	for _, o := range next.Objects {
		if o.Published != nil && state.UseOf(owner, o.Cluster, o.Published) == use {
			wanted = append(wanted, o)
		}
	}
	entries, err := s.Ledger.Entries(ctx, use.Cluster, wanted.IDs())
	if err != nil || len(entries) < len(wanted) {
		return false, err
	}
	for n, e := range entries {
		if progress, _ := e.Progress(string(state.GroupOwner(owner)), wanted[n].Digest()); progress != ledger.Applied {
			return false, nil
		}
	}
	return true, nil
}
