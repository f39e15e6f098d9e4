package follow

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/render"
)

// Reports answers what EMCO's monitor has written of the apps of a group, as far as the
// group has names there.
func (s *Follower) Reports(ctx context.Context, g plan.Group) ([]render.Report, error) {
	c := &emco.Context{ID: g.Orchestrated.AppContext, Meta: emco.Meta{Namespace: g.Orchestrated.Namespace}}
	for _, app := range g.Apps {
		watched := emco.App{Name: app.Name}
		for _, cluster := range app.Clusters {
			watched.Clusters = append(watched.Clusters, emco.Cluster{Name: cluster})
		}
		c.Apps = append(c.Apps, watched)
	}
	seen, err := s.EMCO.Observed(ctx, c)
	reports := make([]render.Report, len(seen))
	for n, o := range seen {
		reports[n] = render.Report{App: o.App, Cluster: o.Cluster, Revision: o.Revision, Err: o.Err, Service: o.Service}
	}
	return reports, err
}
