package accept

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// warnOfAddressless tells which host names end with a group without a change in DNS. The plan does not list them, because
// the group publishes no address for them.
func warnOfAddressless(ctx context.Context, s *Planner, p *resolve.Proposal) error {
	if p.Action != intent.Terminate || !p.Lifecycle.Deployed() || intent.IsName(p.Draft.Group.Path) {
		return nil
	}
	release, err := s.LoadRelease(ctx, p.Lifecycle.ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		return nil // it is dropped by now: a plan does without it
	}
	if err != nil {
		return err
	}
	lacking := state.NameSet{}
	for _, b := range p.Lifecycle.Placed(release.Group).Bindings {
		for _, host := range b.Hosts {
			lacking[host.Name] = true
		}
	}
	for _, n := range p.View.Names {
		delete(lacking, n.Name)
		delete(lacking, hostname.OfService(n.Name))
	}
	switch names := slices.Sorted(maps.Keys(lacking)); len(names) {
	case 0:
	case 1:
		p.Warn("1 host name more goes without a change in DNS, because the group gives it no address: %s", names[0])
	default:
		p.Warn("%d host names more go without a change in DNS, because the group gives them no address: %s", len(names), state.Few(names))
	}
	return nil
}
