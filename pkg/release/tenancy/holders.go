package tenancy

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// CheckHolders refuses objects that another project has in a cluster already, and warns
// of those of another owner of the same project. The first owner keeps an object.
// Signpost renders objects outside namespaces for all.
func (s *Keeper) CheckHolders(ctx context.Context, p *resolve.Proposal, after bundle.Bundle) error {
	own := ownersOf(p)
	cluster, held := "", map[bundle.ID]ledger.Entry{}
	for n, o := range after {
		if o.Cluster != cluster {
			cluster = o.Cluster
			var ids []bundle.ID
			for _, other := range after[n:] {
				if other.Cluster != cluster {
					break
				}
				ids = append(ids, other.ID)
			}
			var err error
			if held, err = s.recorded(ctx, cluster, ids); err != nil {
				return err
			}
		}
		e, taken := held[o.ID]
		if !taken || o.Namespace == "" || e.Digest == o.Digest() || slices.Contains(own, appcontext.Owner(e.Owners[0])) {
			continue
		}
		markContested(p, o, appcontext.Owner(e.Owners[0]))
	}
	return nil
}

// markContested notes an object that has a holder. Names are not taken over as long as
// the group lacks an object, so that none may have one then.
func markContested(p *resolve.Proposal, o bundle.Object, holder appcontext.Owner) {
	const remedy = "give it another name, or another namespace or cluster"
	d := p.Draft
	switch ours := holder.Project() == d.Group.Project.Name; {
	case ours && p.Takeover != "":
		d.Fail(d.Group.Path, "/spec/apps", "%s %s/%s on %s belongs to %s, whose content stays, and no name is taken over without it; %s", o.Kind, o.Namespace, o.Name, o.Cluster, holder, remedy)
		return
	case ours:
		d.Warn("%s %s/%s on %s belongs to %s, whose content stays; %s", o.Kind, o.Namespace, o.Name, o.Cluster, holder, remedy)
		return
	}
	at := "/spec/apps"
	if state.IsCloud(d.Group.Path) {
		at = "/dns-cr-intents"
	}
	d.Fail(d.Group.Path, at, "%s %s/%s on %s belongs to another project; %s", o.Kind, o.Namespace, o.Name, o.Cluster, remedy)
}

// ownersOf are those whose objects the action would change: the group, and the
// providers that it uses or would use.
func ownersOf(p *resolve.Proposal) []appcontext.Owner {
	own := []appcontext.Owner{state.GroupOwner(p.Draft.Group.Path)}
	for _, use := range slices.Concat(p.Lifecycle.Uses, p.Draft.Uses) {
		own = append(own, use.Owner())
	}
	return own
}

// recorded are those of some objects of a cluster that current contexts hold; the first of
// an entry's owners is the one whose content counts.
func (s *Keeper) recorded(ctx context.Context, cluster string, ids []bundle.ID) (map[bundle.ID]ledger.Entry, error) {
	entries, err := s.Ledger.Entries(ctx, cluster, ids)
	held := make(map[bundle.ID]ledger.Entry, len(entries))
	for _, e := range entries {
		if len(e.Owners) > 0 && !e.Going {
			held[e.ID] = e
		}
	}
	return held, err
}
