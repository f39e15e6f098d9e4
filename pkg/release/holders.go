package release

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/ledger"
)

// checkHolders refuses objects that another project has in a cluster already,
// and warns of those that another owner of the same project has: who came first
// keeps an object. What is in no namespace is rendered by Signpost for all.
func (s *Service) checkHolders(ctx context.Context, p *proposal, after bundle.Bundle) error {
	own := p.owners()
	cluster, held := "", map[bundle.ID]ledger.Entry{}
	for _, o := range after {
		if o.Cluster != cluster {
			var err error
			if held, err = s.held(ctx, o.Cluster); err != nil {
				return err
			}
			cluster = o.Cluster
		}
		e, taken := held[o.ID]
		if !taken || o.Namespace == "" || e.Digest == o.Digest() || slices.Contains(own, appcontext.Owner(e.Owners[0])) {
			continue
		}
		p.giveWay(o, appcontext.Owner(e.Owners[0]))
	}
	return nil
}

// giveWay notes an object that has a holder. Names are not taken over as long as
// the group lacks an object, so that none may have one then.
func (p *proposal) giveWay(o bundle.Object, holder appcontext.Owner) {
	const remedy = "give it another name, or another namespace or cluster"
	d := p.draft
	switch ours := holder.Project() == d.group.Project.Name; {
	case ours && p.takeover != "":
		d.fail(d.group.Path, "/spec/apps", "%s %s/%s on %s is that of %s, whose content stays, and no name is taken over without it; %s", o.Kind, o.Namespace, o.Name, o.Cluster, holder, remedy)
		return
	case ours:
		d.warn("%s %s/%s on %s is that of %s, whose content stays; %s", o.Kind, o.Namespace, o.Name, o.Cluster, holder, remedy)
		return
	}
	at := "/spec/apps"
	if IsCloud(d.group.Path) {
		at = "/dns-cr-intents"
	}
	d.fail(d.group.Path, at, "%s %s/%s on %s is another project's; %s", o.Kind, o.Namespace, o.Name, o.Cluster, remedy)
}

// owners are those whose objects the action would change: the group, and the
// providers that it uses or would use.
func (p *proposal) owners() []appcontext.Owner {
	own := []appcontext.Owner{groupOwner(p.draft.group.Path)}
	for _, use := range slices.Concat(p.lifecycle.Uses, p.draft.uses) {
		own = append(own, use.owner())
	}
	return own
}

// held are the objects of a cluster that current contexts hold; the first of an
// entry's owners is the one whose content counts.
func (s *Service) held(ctx context.Context, cluster string) (map[bundle.ID]ledger.Entry, error) {
	entries, _, err := s.Ledger.Cluster(ctx, cluster)
	held := make(map[bundle.ID]ledger.Entry, len(entries))
	for _, e := range entries {
		if len(e.Owners) > 0 && !e.Going {
			held[e.ID] = e
		}
	}
	return held, err
}
