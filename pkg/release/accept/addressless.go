package accept

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// listAddressless lists the host names that an owner would give no longer, and to which it gives no address now. No DNSEndpoint
// tells of them, so that DNS does not change. It warns of that.
func listAddressless(ctx context.Context, s *Planner, p *resolve.Proposal) error {
	next, drafted := p.Next()
	if !drafted || !p.Lifecycle.Deployed() {
		return nil
	}
	release, err := s.LoadRelease(ctx, p.Lifecycle.ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		return nil // it is dropped by now: a plan does without it
	}
	if err != nil {
		return err
	}
	lacking := hostsOf(p.Lifecycle.Placed(release.Group))
	for host := range hostsOf(next) {
		delete(lacking, host)
	}
	for _, n := range p.View.Names {
		delete(lacking, n.Name)
		delete(lacking, hostname.OfService(n.Name))
	}
	names := slices.Sorted(maps.Keys(lacking))
	for _, host := range names {
		for _, record := range lacking[host] {
			p.View.Names = append(p.View.Names, intent.NameChange{Name: host, Type: "A", Record: record, Action: string(bundle.Delete), Targets: []string{}})
		}
	}
	slices.SortStableFunc(p.View.Names, func(a, b intent.NameChange) int { return cmp.Compare(a.Name, b.Name) })
	switch len(names) {
	case 0:
	case 1:
		p.Warn("1 host name goes without a change in DNS, because it has no address: %s", names[0])
	default:
		p.Warn("%d host names go without a change in DNS, because they have no address: %s", len(names), state.Few(names))
	}
	return nil
}

// hostsOf are the host names of a release, with the providers that publish each.
func hostsOf(g plan.Group) map[string][]string {
	hosts := map[string][]string{}
	for _, b := range g.Bindings {
		for _, host := range b.Hosts {
			if !slices.Contains(hosts[host.Name], b.Record) {
				hosts[host.Name] = append(hosts[host.Name], b.Record)
			}
		}
	}
	return hosts
}
