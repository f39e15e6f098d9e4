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

// SeeBeside has a proposal tell what other groups publish of the names that it changes, and warns of names that stay
// because of them.
func (s *Judge) SeeBeside(ctx context.Context, p *resolve.Proposal, changes []bundle.Change) error {
	d, hosts, gone := p.Draft, changedHosts(changes), p.Action == intent.Terminate
	if intent.IsName(d.Group.Path) { // which shares its host name with nobody
		return nil
	}
	was, others := d.Group, slices.Clone(d.Sharing)
	if !gone && slices.Contains(slices.Collect(maps.Values(hosts)), false) {
		release, err := s.LoadRelease(ctx, p.Lifecycle.ContextID)
		switch {
		case err == nil:
			was, gone = p.Lifecycle.Placed(release.Group), true
		case intent.CodeOf(err) != intent.NotFound: // it may be dropped by now: a plan does without it
			return err
		}
	}
	var holders map[intent.Path]state.NameSet
	if gone {
		var err error
		if holders, err = s.holders(ctx, was); err != nil {
			return err
		}
		others = slices.AppendSeq(others, maps.Keys(holders))
	}
	slices.Sort(others)
	stays := state.NameSet{}
	for _, other := range slices.Compact(others) {
		if other == p.Takeover {
			continue // it gives them up
		}
		objects, err := s.CurrentEndpoints(ctx, other)
		if err != nil {
			return err
		}
		stay := state.NameSet{}
		for _, o := range objects {
			if also := publishedOf(o.Published, hosts, stay); len(also.Names) > 0 {
				p.Beside = append(p.Beside, bundle.Change{Action: bundle.Unchanged, ID: o.ID, Before: &also, After: &also})
			}
		}
		if len(stay) > 0 {
			d.Warn("%s stays in DNS: %s gives it, too", state.Few(slices.Sorted(maps.Keys(stay))), other)
		}
		maps.Copy(stays, stay)
	}
	delete(holders, p.Takeover)
	return s.warnOfLack(ctx, d, holders, leaving(hosts, stays))
}

// leaving are the host names that changes take away, without those that stay because of other groups.
func leaving(hosts map[hostAt]bool, stays state.NameSet) state.NameSet {
	out := state.NameSet{}
	for at := range hosts {
		out[at.host] = true
	}
	maps.DeleteFunc(out, func(host string, _ bool) bool { return stays[host] })
	for at, kept := range hosts {
		if kept { // also at another provider
			delete(out, at.host)
		}
	}
	return out
}

// warnOfLack warns of names that leave DNS although other groups give them: these publish no address for them at present.
func (s *Judge) warnOfLack(ctx context.Context, d *resolve.Draft, holders map[intent.Path]state.NameSet, leaving state.NameSet) error {
	for _, other := range slices.Sorted(maps.Keys(holders)) {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(holders[other])), func(name string) bool { return !leaving[name] })
		if len(names) == 0 {
			continue
		}
		l, err := s.StoredLifecycle(ctx, other)
		if err != nil {
			return err
		}
		if l.Deployed() {
			d.Warn("%s leaves DNS: %s gives it, too, and has no address for it now", state.Few(names), other)
		}
	}
	return nil
}

// hostAt is a host name at a provider.
type hostAt struct{ record, host string }

// changedHosts are the host names of DNSEndpoints that change. The value says whether they have the name afterwards.
func changedHosts(changes []bundle.Change) map[hostAt]bool {
	hosts := map[hostAt]bool{}
	note := func(published *bundle.Published, stays bool) {
		if published == nil {
			return
		}
		for _, n := range published.Names {
			at := hostAt{published.Record, n.Host}
			hosts[at] = hosts[at] || stays
		}
	}
	for _, c := range changes {
		note(c.Before, false)
		note(c.After, true)
	}
	return hosts
}

// publishedOf is what a DNSEndpoint publishes of some host names. The hosts among them that the changes take away are added to stay.
func publishedOf(from *bundle.Published, hosts map[hostAt]bool, stay state.NameSet) bundle.Published {
	of := *from
	of.Names = nil
	for _, n := range from.Names {
		kept, changed := hosts[hostAt{from.Record, n.Host}]
		if changed {
			of.Names = append(of.Names, n)
		}
		if changed && !kept {
			stay[n.Host] = true
		}
	}
	return of
}
