package ownership

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// PendingReleases notes a release whose names are to be freed. If many are noted, it drops
// those whose every name a later one frees, too. So a group that changes over and over
// keeps no more releases than it gave up names.
func (s *Registry) PendingReleases(ctx context.Context, l *state.Lifecycle, contextID string) error {
	l.ReleaseNamesAfter(contextID)
	if len(l.PendingRelease) <= state.KeptReleases {
		return nil
	}
	type name struct {
		uid, record string
		scope       intent.Scope
		cluster     string
		key         nameclaim.Key
	}
	shed := map[name]bool{}
	var keep []string
	for _, id := range slices.Backward(l.PendingRelease) {
		release, err := s.LoadRelease(ctx, id)
		if err != nil && intent.CodeOf(err) != intent.NotFound {
			return err
		}
		before := len(shed)
		for _, b := range release.Group.Bindings {
			for _, host := range b.Hosts {
				for _, key := range state.KeysIn(b, host.Name) {
					shed[name{release.Group.UID, b.Record, b.Scope, b.Cluster, key}] = true
				}
			}
		}
		if len(shed) > before {
			keep = append(keep, id)
		}
	}
	slices.Reverse(keep)
	l.PendingRelease = keep
	return nil
}

// Gone are the bindings of a group with the names that it no longer gives, one for each
// view that these are gone from.
func Gone(before, now plan.Group) []plan.Binding {
	given := map[nameclaim.Key]bool{}
	for _, b := range RequestsOf(now) {
		given[b.Key] = true
	}
	var out []plan.Binding
	for _, b := range before.Bindings {
		hosts := b.Hosts
		for _, b.View = range state.ZoneScopes(b) { // a name may be gone from one of its zones alone
			b.Hosts = slices.DeleteFunc(slices.Clone(hosts), func(h plan.Host) bool {
				return given[nameclaim.Key{View: b.View, Name: h.Name}]
			})
			if len(b.Hosts) > 0 {
				out = append(out, b)
			}
		}
	}
	return out
}

// FreeNames frees the names of the group's earlier releases that are gone. No
// authoritative server has them any more, their external-dns has ended, or releaseTimeout
// is over since their DNSEndpoints have gone.
func (s *Registry) FreeNames(ctx context.Context, group intent.Path, l *state.Lifecycle) error {
	if !l.Settled || len(l.PendingRelease) == 0 {
		return nil
	}
	all, err := s.pendingGroups(ctx, *l)
	if err != nil {
		return err
	}
	if l.Cleared.IsZero() {
		if there, err := s.stillThere(ctx, group, all); err != nil || there {
			return err
		}
		l.Cleared = s.Now().UTC()
	}
	for _, before := range all {
		if free, err := s.goneFromDNS(ctx, group, *l, before); err != nil || !free {
			return err
		}
	}
	if len(all) > 0 {
		if err := s.fence(ctx, group); err != nil {
			return err
		}
	}
	for _, before := range all {
		if err := s.free(ctx, *l, before); err != nil {
			return err
		}
	}
	l.PendingRelease = nil
	return nil
}

// pendingGroups are the group's earlier releases of which names are to be freed, with
// their bindings that gave these, where their records live now.
func (s *Registry) pendingGroups(ctx context.Context, l state.Lifecycle) ([]plan.Group, error) {
	var now plan.Group
	if l.Deployed() {
		release, err := s.LoadRelease(ctx, l.ContextID)
		if err != nil {
			return nil, err
		}
		now = release.Group
	}
	var all []plan.Group
	for _, id := range l.PendingRelease {
		release, err := s.LoadRelease(ctx, id)
		if intent.CodeOf(err) == intent.NotFound {
			continue // dropped by an earlier Signpost; who claims its names sees that they are nobody's
		}
		if err != nil {
			return nil, err
		}
		before := l.Placed(release.Group)
		before.Bindings = Gone(before, now)
		if before, err = s.AtHome(ctx, before); err != nil {
			return nil, err
		}
		all = append(all, before)
	}
	return all, nil
}

// stillThere tells whether a cluster may still have a DNSEndpoint of the groups' bindings
// that is no longer in the context of their group. As long as the cluster cannot be
// reached, its external-dns goes on publishing. DNSEndpoints in the context were applied
// when it settled.
func (s *Registry) stillThere(ctx context.Context, group intent.Path, groups []plan.Group) (bool, error) {
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(group))
	if err != nil {
		return false, err
	}
	given := map[string]map[bundle.ID]bool{} // by cluster
	for _, g := range groups {
		for _, b := range g.Bindings {
			if given[b.Cluster] == nil {
				given[b.Cluster] = map[bundle.ID]bool{}
			}
			given[b.Cluster][endpoints.ID(g, b)] = true
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(given)) {
		if there, err := s.stillOn(ctx, pointer, cluster, given[cluster]); err != nil || there {
			return there, err
		}
	}
	return false, nil
}

// stillOn tells so of one cluster, unless that is abandoned: nobody waits for it.
func (s *Registry) stillOn(ctx context.Context, pointer appcontext.Pointer, cluster string, given map[bundle.ID]bool) (bool, error) {
	if abandoned, err := s.IsAbandoned(ctx, cluster); err != nil || abandoned {
		return false, err
	}
	wanted, _, err := s.Contexts.ObjectsOn(ctx, pointer, cluster)
	if err != nil {
		return false, err
	}
	for _, o := range wanted {
		delete(given, o.ID)
	}
	entries, err := s.Ledger.Entries(ctx, cluster, slices.SortedFunc(maps.Keys(given), bundle.Compare))
	return slices.ContainsFunc(entries, state.Awaited), err
}

// fence has steps of the group fail that are to commit an earlier release: they
// have confirmed its names, which are others' from now on.
func (s *Registry) fence(ctx context.Context, group intent.Path) error {
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(group))
	if err != nil {
		return err
	}
	return s.Contexts.Fence(ctx, pointer)
}

// goneFromDNS tells whether all names of a group's bindings, which are where their
// records live now, have gone from DNS, or had the time to.
func (s *Registry) goneFromDNS(ctx context.Context, group intent.Path, l state.Lifecycle, g plan.Group) (bool, error) {
	for _, b := range g.Bindings {
		use := state.Use{Record: state.RecordPath(g, b), Scope: b.Scope, Cluster: b.Cluster}
		record, err := s.RecordLifecycle(ctx, use.Record)
		if err != nil || record.MovingIn(b.Scope) {
			return false, err // while it moves, nobody takes names away
		}
		pointer, err := s.Contexts.Current(ctx, use.Owner())
		if err != nil {
			return false, err
		}
		if pointer.ContextID == "" {
			continue // it outlived the names
		}
		endpoint := endpoints.ID(g, b).Name
		answers, err := s.Observed.Answers(ctx, b.Cluster, g.Project.Namespace, endpoint)
		if err != nil {
			return false, err
		}
		if answers[endpoint].Gone.After(l.Since) {
			continue
		}
		if due := l.Cleared.Add(state.ReleaseTimeout(record.Record, mostSources(b))); s.Now().Before(due) {
			s.WakeAt(group, due)
			return false, nil
		}
	}
	return true, nil
}

// mostSources is about how many targets a name of a binding has.
func mostSources(b plan.Binding) int { return max(len(b.Sources), 1) }

// free takes a group out of the claims of its bindings' names. A name that its
// external-dns never deletes stays the project's as long as the provider exists. Names
// that a later release has claimed stay.
func (s *Registry) free(ctx context.Context, l state.Lifecycle, g plan.Group) error {
	stays := map[nameclaim.Key][]nameclaim.Entry{}
	for _, b := range g.Bindings {
		record, err := s.RecordLifecycle(ctx, state.RecordPath(g, b))
		if err != nil {
			return err
		}
		unattended, err := s.Unattended(ctx, record.Record, b.Scope, b.Cluster)
		if err != nil {
			return err
		}
		if !unattended && resolve.WhyNamesStay(record.Record.Spec) == "" {
			continue
		}
		for _, host := range b.Hosts {
			for _, key := range state.KeysIn(b, host.Name) {
				stays[key] = append(stays[key], nameclaim.Entry{UID: record.Record.UID, Through: record.Record.Path, Trees: treesOf(b, host.Name, key), Stays: true})
			}
		}
	}
	keys := keysOf(RequestsOf(g))
	claims, err := s.Names().Read(ctx, keys)
	if err != nil {
		return err
	}
	var changes []nameclaim.Change
	for _, key := range keys {
		claim := claims[key]
		next := claim.Without(func(e nameclaim.Entry) bool {
			return e.Of(g.Path) && e.UID == g.UID && (g.UID != l.OwnerUID || e.Seq <= l.Seq)
		})
		if len(next.Entries) == len(claim.Entries) {
			continue
		}
		for _, entry := range stays[key] {
			next = next.AndStays(entry)
		}
		changes = append(changes, nameclaim.Change{Key: key, Claim: next})
	}
	return s.Names().Write(ctx, changes)
}
