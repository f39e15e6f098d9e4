package release

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// shed notes a release of which names are to be freed when the next one, or
// nothing, is in the clusters.
func (l *Lifecycle) shed(contextID string) {
	if contextID != "" && !slices.Contains(l.Shed, contextID) {
		l.Shed = append(slices.Clone(l.Shed), contextID)
	}
}

// shedding notes a release of which names are to be freed. Where many are noted, it
// lets go of those whose every name a later one sheds, too: a group that changes
// over and over keeps no more of them than it gave up names.
func (s *Service) shedding(ctx context.Context, l *Lifecycle, contextID string) error {
	l.shed(contextID)
	if len(l.Shed) <= keptReleases {
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
	for _, id := range slices.Backward(l.Shed) {
		release, err := s.loadRelease(ctx, id)
		if err != nil && intent.CodeOf(err) != intent.NotFound {
			return err
		}
		before := len(shed)
		for _, b := range release.Group.Bindings {
			for _, host := range b.Hosts {
				for _, key := range keysIn(b, host.Name) {
					shed[name{release.Group.UID, b.Record, b.Scope, b.Cluster, key}] = true
				}
			}
		}
		if len(shed) > before {
			keep = append(keep, id)
		}
	}
	slices.Reverse(keep)
	l.Shed = keep
	return nil
}

// dropFreed drops releases whose names were freed, and that nobody can roll back to.
func (s *Service) dropFreed(ctx context.Context, l Lifecycle, shed []string) error {
	for _, id := range shed {
		if slices.Contains(l.Shed, id) || slices.ContainsFunc(l.kept(), func(p Past) bool { return p.ContextID == id }) {
			continue
		}
		if err := s.dropRelease(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// gone are the bindings of a group with those of their names that it does not
// give any more, one for each view that these are gone from.
func gone(before, now plan.Group) []plan.Binding {
	given := map[nameclaim.Key]bool{}
	for _, b := range bidsOf(now) {
		given[b.key] = true
	}
	var out []plan.Binding
	for _, b := range before.Bindings {
		hosts := b.Hosts
		for _, b.View = range viewsOf(b) { // a name may be gone from one of its zones alone
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

// freeNames frees the names that the group's earlier releases gave and that
// are gone: no authoritative server has them any more, their external-dns has
// ended, or it had releaseTimeout for them since their DNSEndpoints have gone. It
// answers whether it has noted something in the lifecycle.
func (s *Service) freeNames(ctx context.Context, group intent.Path, l *Lifecycle) (noted bool, err error) {
	if !l.Settled || len(l.Shed) == 0 {
		return false, nil
	}
	all, err := s.shedders(ctx, *l)
	if err != nil {
		return false, err
	}
	if l.Cleared.IsZero() {
		if there, err := s.stillThere(ctx, group, all); err != nil || there {
			return false, err
		}
		l.Cleared, noted = s.Now().UTC(), true
	}
	for _, before := range all {
		if free, err := s.outlived(ctx, group, *l, before); err != nil || !free {
			return noted, err
		}
	}
	if len(all) > 0 {
		if err := s.fence(ctx, group); err != nil {
			return false, err
		}
	}
	for _, before := range all {
		if err := s.free(ctx, *l, before); err != nil {
			return false, err
		}
	}
	l.Shed = nil
	return true, nil
}

// shedders are the group's earlier releases of which names are to be freed, with
// their bindings that gave these, where their records live now.
func (s *Service) shedders(ctx context.Context, l Lifecycle) ([]plan.Group, error) {
	var now plan.Group
	if l.deployed() {
		release, err := s.loadRelease(ctx, l.ContextID)
		if err != nil {
			return nil, err
		}
		now = release.Group
	}
	var all []plan.Group
	for _, id := range l.Shed {
		release, err := s.loadRelease(ctx, id)
		if intent.CodeOf(err) == intent.NotFound {
			continue // dropped by an earlier Signpost; who claims its names sees that they are nobody's
		}
		if err != nil {
			return nil, err
		}
		before := l.placed(release.Group)
		before.Bindings = gone(before, now)
		if before, err = s.atHome(ctx, before); err != nil {
			return nil, err
		}
		all = append(all, before)
	}
	return all, nil
}

// stillThere tells whether a cluster may still have a DNSEndpoint of the groups'
// bindings that the context of their group has not any more: as long as it cannot be
// reached, its external-dns goes on publishing. What the context has was applied when
// it settled.
func (s *Service) stillThere(ctx context.Context, group intent.Path, groups []plan.Group) (bool, error) {
	pointer, err := s.Contexts.Current(ctx, groupOwner(group))
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
func (s *Service) stillOn(ctx context.Context, pointer appcontext.Pointer, cluster string, given map[bundle.ID]bool) (bool, error) {
	if abandoned, err := s.abandoned(ctx, cluster); err != nil || abandoned {
		return false, err
	}
	wanted, _, err := s.Contexts.ObjectsOn(ctx, pointer, cluster)
	if err != nil {
		return false, err
	}
	for _, o := range wanted {
		delete(given, o.ID)
	}
	entries, _, err := s.Ledger.Cluster(ctx, cluster)
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return given[e.ID] && awaited(e) }), err
}

// fence has steps of the group fail that are to commit an earlier release: they
// have confirmed its names, which are others' from now on.
func (s *Service) fence(ctx context.Context, group intent.Path) error {
	pointer, err := s.Contexts.Current(ctx, groupOwner(group))
	if err != nil {
		return err
	}
	return s.Contexts.Fence(ctx, pointer)
}

// outlived tells whether all names of a group's bindings, which are where their
// records live now, have gone from DNS, or had the time to.
func (s *Service) outlived(ctx context.Context, group intent.Path, l Lifecycle, g plan.Group) (bool, error) {
	for _, b := range g.Bindings {
		use := Use{Record: recordPath(g, b), Scope: b.Scope, Cluster: b.Cluster}
		record, err := s.recordLifecycle(ctx, use.Record)
		if err != nil || record.moving(b.Scope) {
			return false, err // while it moves, nobody takes names away
		}
		pointer, err := s.Contexts.Current(ctx, use.owner())
		if err != nil {
			return false, err
		}
		if pointer.ContextID == "" {
			continue // it outlived the names
		}
		answers, _, err := s.Observed.Answers(ctx, b.Cluster, g.Project.Namespace)
		if err != nil {
			return false, err
		}
		if heard := answers[endpoints.ID(g, b).Name]; heard.Gone.After(l.Since) {
			continue
		}
		if due := l.Cleared.Add(ReleaseTimeout(record.Record, mostSources(b))); s.Now().Before(due) {
			s.wakeAt(group, due)
			return false, nil
		}
	}
	return true, nil
}

// mostSources is about how many targets a name of a binding has.
func mostSources(b plan.Binding) int { return max(len(b.Sources), 1) }

// free takes a group out of the claims of its bindings' names. A name that its
// external-dns never takes away stays the project's as long as the record is
// there. What a later release has claimed stays.
func (s *Service) free(ctx context.Context, l Lifecycle, g plan.Group) error {
	stays := map[nameclaim.Key]nameclaim.Entry{}
	for _, b := range g.Bindings {
		record, err := s.recordLifecycle(ctx, recordPath(g, b))
		if err != nil {
			return err
		}
		unattended, err := s.unattended(ctx, record.Record, b.Scope, b.Cluster)
		if err != nil {
			return err
		}
		if !unattended && whyNamesStay(record.Record.Spec) == "" {
			continue
		}
		for _, host := range b.Hosts {
			for _, key := range keysIn(b, host.Name) {
				stays[key] = nameclaim.Entry{UID: record.Record.UID, Through: record.Record.Path, Stays: true}
			}
		}
	}
	keys := keysOf(bidsOf(g))
	claims, err := s.names().Read(ctx, keys)
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
		if entry, some := stays[key]; some && !slices.ContainsFunc(next.Entries, entry.Same) {
			next.Entries = append(next.Entries, entry)
		}
		changes = append(changes, nameclaim.Change{Key: key, Claim: next})
	}
	return s.names().Write(ctx, changes)
}

// settleNames moves the names that the group takes over, and frees those that
// are gone. It answers whether it has noted something in the lifecycle.
func (s *Service) settleNames(ctx context.Context, group intent.Path, l *Lifecycle) (noted bool, err error) {
	taken, err := s.takeNames(ctx, group, *l)
	if err != nil {
		return false, err
	}
	noted, err = s.freeNames(ctx, group, l)
	if err != nil {
		return false, err
	}
	if taken {
		l.Taking = ""
	}
	return taken || noted, nil
}
