package render

import (
	"context"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// Sources is what is known of clusters at a time: each part answers nil for what is
// not.
type Sources struct {
	now       time.Time
	service   func(ctx context.Context, app string, service address.Service) (*address.Observation, error)
	standing  func(ctx context.Context) (clusterHealth, error)
	placement func(ctx context.Context, cluster string, p placement.Placement) (*placement.Verdict, error)
	foreign   func(ctx context.Context, b plan.Binding, cluster string) (bool, error) // the Service's namespace is another project's

	Keep func(ctx context.Context, lost map[string]state.NameSet) (map[string]state.NameSet, error) // which names, by record, stay published although nothing offers them an address; nil: none
}

// ObservedSources is what was observed, without a live look: by the workers of clusters,
// and, of the apps that EMCO deploys, by its monitor.
func (s *Renderer) ObservedSources(g plan.Group) Sources {
	monitor := monitored{store: s.EMCO, group: g}
	service := func(ctx context.Context, app string, service address.Service) (*address.Observation, error) {
		if inventory(g, service.Cluster) {
			return monitor.service(ctx, app, service) // what a worker has once seen is old
		}
		seen, err := s.Observed.Service(ctx, service)
		switch {
		case err != nil:
			return nil, err
		case seen == nil:
			return monitor.service(ctx, app, service)
		}
		newer, err := s.since(ctx, &monitor, app, *seen)
		if err != nil || newer != nil {
			return newer, err
		}
		return &seen.Observation, nil
	}
	return Sources{now: s.Now().UTC(), service: service, standing: s.once(), placement: s.verdict, foreign: s.foreign(g)}
}

// once looks at how clusters stand, when it is first asked.
func (s *Renderer) once() func(context.Context) (clusterHealth, error) {
	var known *clusterHealth
	return func(ctx context.Context) (clusterHealth, error) {
		if known == nil {
			now, err := s.clusterHealth(ctx)
			if err != nil {
				return clusterHealth{}, err
			}
			known = &now
		}
		return *known, nil
	}
}

// foreign tells which namespaces of clusters are another project's by now: whoever
// published a Service there before its namespace was claimed is to stop. The
// group's own are not asked for, which is most, and each other one once.
func (s *Renderer) foreign(g plan.Group) func(context.Context, plan.Binding, string) (bool, error) {
	type place struct{ cluster, namespace string }
	known := map[place]bool{}
	return func(ctx context.Context, b plan.Binding, cluster string) (bool, error) {
		at := place{cluster, b.Namespace}
		if _, asked := known[at]; asked || g.Orchestrated != nil || b.Namespace == g.LogicalCloudNamespace {
			return known[at], nil
		}
		is, err := s.Ownership.IsForeign(ctx, cluster, b.Namespace, g.Project.Name)
		if err == nil {
			known[at] = is
		}
		return is, err
	}
}

// since answers what EMCO's monitor has written of a Service after a worker
// that does not reach the cluster any more, nil for nothing. That the monitor
// does not know a Service says little: something else may have made it.
func (s *Renderer) since(ctx context.Context, monitor *monitored, app string, seen observed.Service) (*address.Observation, error) {
	if monitor.group.Orchestrated == nil {
		return nil, nil
	}
	reached, err := s.Observed.Reachability(ctx, seen.Cluster)
	if err != nil || reached == nil || reached.Reachable {
		return nil, err
	}
	word, err := monitor.word(ctx, app, seen.Cluster)
	if err != nil || word == nil || word.Revision < seen.Revision {
		return nil, err
	}
	newer, err := monitor.service(ctx, app, seen.Service)
	if newer == nil || !newer.Found {
		return nil, err
	}
	return balanced(seen.Observation, *newer), err
}

// balanced is what a worker saw last, with the load balancer as the monitor saw
// it later: of what else there may be it says nothing.
func balanced(seen, later address.Observation) *address.Observation {
	later.Candidates = slices.Concat(later.Candidates, slices.DeleteFunc(slices.Clone(seen.Candidates), func(c address.Candidate) bool {
		return c.Kind == "" || c.Kind == address.LoadBalancer
	}))
	later.ClusterIPs, later.Ports, later.Readiness, later.Unseen = seen.ClusterIPs, seen.Ports, seen.Readiness, seen.Unseen
	return &later
}

// LiveSources is what a proposal sees. Plans look at live clusters where nothing
// was observed. EMCO's calls do not wait for any.
func (s *Renderer) LiveSources(p *resolve.Proposal) Sources {
	seen := s.ObservedSources(p.Draft.Group)
	if p.AppContext != "" {
		return seen
	}
	service := func(ctx context.Context, app string, service address.Service) (*address.Observation, error) {
		found, err := seen.service(ctx, app, service)
		if err != nil || found != nil || inventory(p.Draft.Group, service.Cluster) {
			return found, err
		}
		return s.Resolver.LookLive(ctx, service)
	}
	return Sources{now: seen.now, service: service, standing: seen.standing, placement: s.livePlacement, foreign: seen.foreign}
}

// verdict answers what the cluster's nodes were last seen to make of a placement.
func (s *Renderer) verdict(ctx context.Context, cluster string, p placement.Placement) (*placement.Verdict, error) {
	return s.Observed.Placement(ctx, cluster, p.Key())
}

// livePlacement answers a verdict, or looks at the live nodes when there is none.
func (s *Renderer) livePlacement(ctx context.Context, cluster string, p placement.Placement) (*placement.Verdict, error) {
	seen, err := s.verdict(ctx, cluster, p)
	if err != nil || seen != nil || s.Live == nil {
		return seen, err
	}
	nodes, err := s.Live.ReadNodes(ctx, cluster)
	if err != nil {
		s.Logger.DebugContext(ctx, "a cluster did not answer a plan", "cluster", cluster, "error", err)
		return nil, nil
	}
	verdict := placement.Judge(nodes, p)
	return &verdict, nil
}

// monitored is what EMCO's monitor has written of the apps of an orchestrated
// group, read once, when it is asked for.
type monitored struct {
	store *emco.Store
	group plan.Group
	read  bool
	seen  []emco.Observed
}

// service answers what a Service of an app was seen to offer, nil where the
// monitor has not said anything. The error has the code Conflict where it
// cannot be read: it is not known to be less than before.
func (m *monitored) service(ctx context.Context, app string, service address.Service) (*address.Observation, error) {
	word, err := m.word(ctx, app, service.Cluster)
	if word == nil || err != nil {
		return nil, err
	}
	if word.Err != nil {
		return nil, &intent.Error{Code: intent.Conflict, Detail: word.Err.Error()}
	}
	return word.Service(service.Namespace, service.Name), nil
}

// word is what the monitor has written of an app on a cluster, nil for nothing.
func (m *monitored) word(ctx context.Context, app, cluster string) (*emco.Observed, error) {
	if m.group.Orchestrated == nil {
		return nil, nil
	}
	if !m.read {
		var err error
		if m.seen, err = m.store.Observed(ctx, m.watched()); err != nil {
			return nil, err
		}
		m.read = true
	}
	at := slices.IndexFunc(m.seen, func(o emco.Observed) bool { return o.App == app && o.Cluster == cluster })
	if at < 0 {
		return nil, nil
	}
	return &m.seen[at], nil
}

// watched is the app context as far as the group has names there.
func (m *monitored) watched() *emco.Context {
	c := &emco.Context{ID: m.group.Orchestrated.AppContext, Meta: emco.Meta{Namespace: m.group.Orchestrated.Namespace}}
	for _, app := range m.group.Apps {
		watched := emco.App{Name: app.Name}
		for _, cluster := range app.Clusters {
			watched.Clusters = append(watched.Clusters, emco.Cluster{Name: cluster})
		}
		c.Apps = append(c.Apps, watched)
	}
	return c
}
