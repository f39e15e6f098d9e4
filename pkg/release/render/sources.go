// Package render makes the objects of a release from its freeze and from what
// the clusters were observed to offer.
package render

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// Sources is what is known of clusters at a time: each part answers nil for what is
// not.
type Sources struct {
	now       time.Time
	service   func(ctx context.Context, app string, service address.Service) (*address.Observation, error)
	health    func(ctx context.Context) (clusterHealth, error)
	placement func(ctx context.Context, cluster string, p placement.Placement) (*placement.Verdict, error)
	foreign   func(ctx context.Context, b plan.Binding, cluster string) (bool, error) // the Service's namespace is another project's
	ahead     func(ctx context.Context, b plan.Binding) error                         // reads what service answers of all sources of a binding; nil: nothing
	probes    func(ctx context.Context, endpoint bundle.ID) (map[string]map[string]intent.ProbeStatus, error)
	observed  map[address.Service]*observed.Service // those that were read of Services that workers watch, nil for nothing
	partly    bool                                  // service does not ask orchestrators, so that what it does not know may be known

	Keep func(ctx context.Context, lost map[string]state.NameSet) (map[string]state.NameSet, error) // which names, by record, stay published although nothing offers them an address; nil: none
}

// Renderer renders releases.
type Renderer struct {
	*state.Store
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry
	Removal   *removal.Guard

	Live    inputs.LiveState                                          // for plans; nil: none
	Reports func(ctx context.Context, g plan.Group) ([]Report, error) // of the apps that an orchestrator deploys

	Inputs InputCache
	Health HealthCache
}

// ObservedSources is what was observed, without a live look: by the workers of clusters,
// and, of the apps that an orchestrator deploys, as it reports.
func (s *Renderer) ObservedSources(g plan.Group) Sources {
	told, known := reports{from: s.Reports, group: g}, map[address.Service]*observed.Service{}
	service := func(ctx context.Context, app string, service address.Service) (*address.Observation, error) {
		if inventory(g, service.Cluster) {
			return told.service(ctx, app, service) // what a worker has once seen is old
		}
		seen, read := known[service]
		var err error
		if !read {
			seen, err = s.Observed.Service(ctx, service)
			known[service] = seen
		}
		switch {
		case err != nil:
			return nil, err
		case seen == nil:
			return told.service(ctx, app, service)
		}
		newer, err := s.since(ctx, &told, app, *seen)
		if err != nil || newer != nil {
			return newer, err
		}
		return &seen.Observation, nil
	}
	ahead := func(ctx context.Context, b plan.Binding) error { return s.readAhead(ctx, g, b, known) }
	return Sources{now: s.Now().UTC(), service: service, health: s.once(), placement: s.verdict, foreign: s.foreign(g), ahead: ahead, probes: s.probes, observed: known}
}

// readAhead reads in one request what was observed of a binding's Service in all clusters
// that workers watch.
func (s *Renderer) readAhead(ctx context.Context, g plan.Group, b plan.Binding, known map[address.Service]*observed.Service) error {
	var names []address.Service
	for _, cluster := range b.Sources {
		name := address.Service{Cluster: cluster, Namespace: b.Namespace, Name: b.Service}
		if _, read := known[name]; !read && !resolve.Directory(g, cluster) && !inventory(g, cluster) {
			names = append(names, name)
		}
	}
	found, err := s.Observed.ServicesOf(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		known[name] = found[name]
	}
	return nil
}

// probes answers what probes of the addresses of a DNSEndpoint have found, by the key of
// the probe and the address.
func (s *Renderer) probes(ctx context.Context, endpoint bundle.ID) (map[string]map[string]intent.ProbeStatus, error) {
	return s.Observed.Probes(ctx, endpoint.Cluster, endpoint.Namespace, endpoint.Name)
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

// foreign tells which namespaces of clusters belong to another project by now: names of
// Services there that were published before the claim have to stop. The group's own are
// not asked for, which is most. Each other one is asked for once, in all sources of a
// binding together.
func (s *Renderer) foreign(g plan.Group) func(context.Context, plan.Binding, string) (bool, error) {
	known := map[string]map[string]bool{} // by namespace and cluster
	return func(ctx context.Context, b plan.Binding, cluster string) (bool, error) {
		if g.Orchestrated != nil || b.Namespace == g.LogicalCloudNamespace {
			return false, nil
		}
		if is, asked := known[b.Namespace][cluster]; asked {
			return is, nil
		}
		found, err := s.Ownership.Foreign(ctx, b.Sources, b.Namespace, g.Project.Name)
		if err != nil {
			return false, err
		}
		if known[b.Namespace] == nil {
			known[b.Namespace] = map[string]bool{}
		}
		maps.Copy(known[b.Namespace], found)
		return found[cluster], nil
	}
}

// since answers what was reported of a Service after a worker that does not reach the
// cluster any more, nil for nothing. A report without the Service says little:
// something else may have made it.
func (s *Renderer) since(ctx context.Context, told *reports, app string, seen observed.Service) (*address.Observation, error) {
	if told.group.Orchestrated == nil {
		return nil, nil
	}
	reached, err := s.Observed.Reachability(ctx, seen.Cluster)
	if err != nil || reached == nil || reached.Reachable {
		return nil, err
	}
	report, err := told.of(ctx, app, seen.Cluster)
	if err != nil || report == nil || report.Revision < seen.Revision {
		return nil, err
	}
	newer, err := told.service(ctx, app, seen.Service)
	if newer == nil || !newer.Found {
		return nil, err
	}
	return balanced(seen.Observation, *newer), err
}

// balanced is what a worker saw last, with the load balancer as it was
// reported later: of what else there may be, reports say nothing.
func balanced(seen, later address.Observation) *address.Observation {
	later.Candidates = slices.Concat(later.Candidates, slices.DeleteFunc(slices.Clone(seen.Candidates), func(c address.Candidate) bool {
		return c.Kind == "" || c.Kind == address.LoadBalancer
	}))
	later.ClusterIPs, later.Ports, later.Readiness, later.Unseen = seen.ClusterIPs, seen.Ports, seen.Readiness, seen.Unseen
	return &later
}

// LiveSources is what a proposal sees. Plans look at live clusters where nothing
// was observed. Calls of an orchestrator do not wait for any.
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
	return Sources{now: seen.now, service: service, health: seen.health, placement: s.livePlacement, foreign: seen.foreign, ahead: seen.ahead, probes: seen.probes}
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

// Report is what an orchestrator reports of an app on a cluster.
type Report struct {
	App, Cluster string
	Revision     int64 // of the store, that wrote it
	Err          error // why it cannot be read, else nil; nothing is known then

	// Service answers what a Service of the app offers, nil if nothing is known.
	Service func(namespace, name string) *address.Observation
}

// reports are what an orchestrator reports of the apps of a group that it deploys,
// read once, when they are asked for.
type reports struct {
	from  func(ctx context.Context, g plan.Group) ([]Report, error)
	group plan.Group
	read  bool
	known []Report
}

// service answers what a Service of an app was reported to offer, nil if nothing was
// reported. The error has the code Conflict if the report cannot be read: the Service
// is not known to offer less than before.
func (r *reports) service(ctx context.Context, app string, service address.Service) (*address.Observation, error) {
	report, err := r.of(ctx, app, service.Cluster)
	if report == nil || err != nil {
		return nil, err
	}
	if report.Err != nil {
		return nil, &intent.Error{Code: intent.Conflict, Detail: report.Err.Error()}
	}
	return report.Service(service.Namespace, service.Name), nil
}

// of is the report of an app on a cluster, nil for none.
func (r *reports) of(ctx context.Context, app, cluster string) (*Report, error) {
	if r.group.Orchestrated == nil {
		return nil, nil
	}
	if !r.read {
		var err error
		if r.known, err = r.from(ctx, r.group); err != nil {
			return nil, err
		}
		r.read = true
	}
	at := slices.IndexFunc(r.known, func(one Report) bool { return one.App == app && one.Cluster == cluster })
	if at < 0 {
		return nil, nil
	}
	return &r.known[at], nil
}
