package sharing

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// KeepShared has objects stay that the group gives up, if other owners have them in the
// cluster, too. A namespace goes with the last of its owners.
func (s *Judge) KeepShared(ctx context.Context, p *resolve.Proposal, changes []bundle.Change) error {
	own := []string{string(state.GroupOwner(p.Draft.Group.Path))}
	for _, use := range slices.Concat(p.Lifecycle.Uses, p.Draft.Uses) {
		own = append(own, string(use.Owner()))
	}
	given := map[string][]bundle.ID{}
	for _, c := range changes {
		if c.Action == bundle.Delete && !c.ID.IsEndpoint() { // which is of one owner
			given[c.ID.Cluster] = append(given[c.ID.Cluster], c.ID)
		}
	}
	shared := map[bundle.ID]bool{}
	for _, cluster := range slices.Sorted(maps.Keys(given)) {
		entries, err := s.Ledger.Entries(ctx, cluster, given[cluster])
		if err != nil {
			return err
		}
		for _, e := range entries {
			shared[e.ID] = slices.ContainsFunc(e.Owners, func(owner string) bool { return !slices.Contains(own, owner) })
		}
	}
	for i, c := range changes {
		if c.Action == bundle.Delete && shared[c.ID] {
			changes[i].Action, changes[i].New = bundle.Unchanged, c.Old
		}
	}
	return nil
}

// WarnOfStaying tells which names stay in DNS when a group ends, because other groups give them, too.
func (s *Judge) WarnOfStaying(ctx context.Context, p *resolve.Proposal) error {
	d := p.Draft
	if p.Action != intent.Terminate || intent.IsName(d.Group.Path) { // which shares its host name with nobody
		return nil
	}
	all, err := s.Publishers(ctx, d.Group)
	if err != nil {
		return err
	}
	told := map[GivenName]bool{}
	for _, b := range d.Group.Bindings {
		for _, host := range b.Hosts {
			at := Given(d.Group, b, host.Name)
			others := slices.DeleteFunc(slices.Clone(all[at]), func(o Publisher) bool { return o.Group == d.Group.Path })
			if len(others) > 0 && !told[at] {
				told[at] = true
				d.Warn("%s stays in DNS, with other addresses: %s gives it, too", host.Name, Describe(d.Group.Path, others...))
			}
		}
	}
	return nil
}
