package tenancy

import (
	"context"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

const abandonedRemedy = "is abandoned, so Signpost does not serve it; use another cluster, or delete the cluster's document and register it again"

// checkAbandoned refuses clusters that nobody serves, where Signpost pushes
// something.
func (s *Keeper) checkAbandoned(ctx context.Context, d *resolve.Draft) error {
	all, err := s.Ledger.Abandonments(ctx)
	if err != nil {
		return err
	}
	pushed := state.Reached(d.Group)
	for _, a := range all {
		if !pushed[a.Cluster] {
			continue
		}
		abandoned, err := s.IsAbandoned(ctx, a.Cluster)
		if err != nil {
			return err
		}
		if abandoned {
			d.Fail(intent.ClusterPath(a.Cluster), "", "cluster %s %s", a.Cluster, abandonedRemedy)
		}
	}
	return nil
}

// CheckHomeAbandoned refuses a home that nobody serves for what is deployed of a record.
func (s *Keeper) CheckHomeAbandoned(ctx context.Context, p *resolve.RecordProposal) ([]intent.Field, error) {
	if !p.Before.Deployed || p.Frozen.Home == nil {
		return nil, nil
	}
	home := p.Frozen.Home.String()
	abandoned, err := s.IsAbandoned(ctx, home)
	if !abandoned || err != nil {
		return nil, err
	}
	return []intent.Field{{Pointer: string(p.Frozen.Path) + "#/spec/deployOn", Detail: fmt.Sprintf("cluster %s %s", home, abandonedRemedy)}}, nil
}

// Orphans tells in words where changes would delete objects and nobody
// does.
func (s *Keeper) Orphans(ctx context.Context, changes []bundle.Change) ([]string, error) {
	var clusters, out []string
	for _, c := range changes {
		if c.Action == bundle.Delete {
			clusters = append(clusters, c.ID.Cluster)
		}
	}
	slices.Sort(clusters)
	for _, cluster := range slices.Compact(clusters) {
		abandoned, err := s.IsAbandoned(ctx, cluster)
		if err != nil {
			return nil, err
		}
		if abandoned {
			out = append(out, fmt.Sprintf("cluster %s is abandoned: nothing is deleted there, and names that its external-dns has published stay", cluster))
		}
	}
	return out, nil
}
