package accept

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

// warnOfSilence warns of clusters that a plan changes and that do not answer. The plan tells
// what Signpost wants there, and nobody knows what is there.
func warnOfSilence(ctx context.Context, s *Planner, p *resolve.Proposal) error {
	changes, deletes := map[string]bool{}, map[string]bool{}
	for _, o := range p.View.Objects {
		changes[o.Cluster] = changes[o.Cluster] || o.Action != string(bundle.Unchanged)
		deletes[o.Cluster] = deletes[o.Cluster] || o.Action == string(bundle.Delete)
	}
	maps.DeleteFunc(changes, func(_ string, changes bool) bool { return !changes })
	if len(changes) == 0 {
		return nil
	}
	clusters := slices.Sorted(maps.Keys(changes))
	seen, err := s.Observed.ReachabilitiesOf(ctx, clusters)
	if err != nil {
		return err
	}
	for _, cluster := range clusters {
		r, known := seen[cluster]
		if !known || r.Reachable {
			continue
		}
		until := "nothing changes there until it does"
		if deletes[cluster] {
			until += ", and objects that go may never have been there"
		}
		p.Warn("cluster %s does not answer since %s: %s", intent.ClusterWord(cluster), r.Since.UTC().Format(time.RFC3339), until)
	}
	return nil
}
