package clusters

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Drained says since when a cluster is drained, nil when it is not.
func (s *Operator) Drained(ctx context.Context, cluster intent.Path) (*intent.Drained, error) {
	list, err := s.DrainedClusters(ctx)
	if err != nil {
		return nil, err
	}
	if found, drained := list.Clusters[intent.ClusterOf(cluster).String()]; drained {
		return &found.Drained, nil
	}
	return nil, nil
}

// Drain removes a cluster's addresses from all public names, within their releases; its
// objects stay. It is idempotent. Conflict when a name would be left without any address,
// unless forced. Conflict also when the cluster is inventory only and no orchestrator
// deploys anything there. NotFound when there is no such cluster.
func (s *Operator) Drain(ctx context.Context, cluster intent.Path, o intent.DrainOptions) error {
	doc, err := s.Documents.Get(ctx, cluster)
	if err != nil {
		return err
	}
	resource, err := intent.Of[intent.Cluster](doc)
	if err != nil {
		return err
	}
	groups, err := s.Deployed(ctx, cluster)
	if err != nil {
		return err
	}
	if resolve.InventoryOnly(resource.Spec) && len(groups) == 0 {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf(
			"cluster %s is inventory only, with neither kubeconfig nor directory, and %s has no app of a deployment intent group there; Signpost publishes none of its addresses, so there is nothing to drain", intent.ClusterOf(cluster), intent.OrchestratorName)}
	}
	by, err := s.drainCluster(ctx, cluster, o, s.Refuses)
	if err == nil && by != nil {
		s.Tell(ctx, cluster, by.Event(ctx, intent.Drain))
	}
	return err
}

// drainCluster is Drain for clusters of any kind. The safety rules hold if refuses is not
// nil. It answers nil if the cluster was drained already.
func (s *Operator) drainCluster(ctx context.Context, cluster intent.Path, o intent.DrainOptions, refuses func(ctx context.Context, before, after state.DrainedClusters) error) (*intent.Drained, error) {
	by, err := s.order(ctx, cluster, o, func(list state.DrainedClusters, by state.DrainedCluster) (state.DrainedClusters, error) {
		name := intent.ClusterOf(cluster).String()
		if _, already := list[name]; already {
			return list, nil
		}
		next := maps.Clone(list)
		next[name] = by
		if refuses != nil {
			if err := refuses(ctx, list, next); err != nil {
				return nil, err
			}
		}
		if o.Force {
			return next, nil
		}
		return next, s.keepsAddresses(ctx, cluster, list, next)
	})
	if err == nil {
		s.Logger.InfoContext(ctx, "cluster is drained", "cluster", intent.ClusterOf(cluster), "forced", o.Force, "actor", o.Actor)
	}
	return by, err
}

// Undrain lets a cluster's addresses be published again. It is idempotent.
// Conflict when the cluster is abandoned.
func (s *Operator) Undrain(ctx context.Context, cluster intent.Path, o intent.DrainOptions) error {
	abandoned, err := s.Abandoned(ctx, cluster)
	if err != nil {
		return err
	}
	if abandoned != nil {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is abandoned, so its addresses are unknown; delete its document and register it again", intent.ClusterOf(cluster))}
	}
	by, err := s.order(ctx, cluster, o, func(list state.DrainedClusters, _ state.DrainedCluster) (state.DrainedClusters, error) {
		next := maps.Clone(list)
		delete(next, intent.ClusterOf(cluster).String())
		return next, nil
	})
	if err == nil {
		s.Logger.InfoContext(ctx, "cluster is no longer drained", "cluster", intent.ClusterOf(cluster), "actor", o.Actor)
	}
	if err == nil && by != nil {
		s.Tell(ctx, cluster, by.Event(ctx, intent.Undrain))
	}
	return err
}

// order changes the list, and has the groups that use the cluster choose their
// addresses anew. It answers nil if there was nothing to change.
func (s *Operator) order(ctx context.Context, cluster intent.Path, o intent.DrainOptions, change func(list state.DrainedClusters, by state.DrainedCluster) (state.DrainedClusters, error)) (*intent.Drained, error) {
	done, err := state.RetryOnConflict(ctx, cluster, func(ctx context.Context) (*intent.Drained, error) {
		doc, err := s.Documents.Get(ctx, cluster)
		if err != nil {
			return nil, err
		}
		list, err := s.DrainedClusters(ctx)
		if err != nil {
			return nil, err
		}
		by := intent.Drained{Since: s.Now().UTC(), Actor: o.Actor, Reason: o.Reason}
		next, err := change(list.Clusters, state.DrainedCluster{Drained: by, UID: doc.UID})
		if err != nil || maps.Equal(next, list.Clusters) {
			return nil, err
		}
		_, err = state.SwapDocument(ctx, s.Documents, list.Change(next, by), intent.Write{Path: state.DrainedPath}, list.Revision)
		return &by, err
	})
	if err != nil {
		return nil, err
	}
	return done, s.EachGroup(ctx, cluster, func(group intent.Path, _ state.Lifecycle) { s.Wake(group) })
}

// keepsAddresses refuses a list of drained clusters that would leave a name of a group of
// the cluster without any address, when it has some. Addresses that other app services
// give the name, of that group or of others, count.
func (s *Operator) keepsAddresses(ctx context.Context, cluster intent.Path, before, after state.DrainedClusters) error {
	groups, err := state.DeployedOn(ctx, s.Store, intent.ClusterOf(cluster).String())
	if err != nil {
		return err
	}
	lost, left, records := map[sharing.GivenName]bool{}, map[sharing.GivenName]bool{}, map[intent.Path]bool{}
	err = s.Renderer.Each(ctx, groups, func(ctx context.Context, _ intent.Path, l state.Lifecycle) error {
		for _, use := range l.Uses {
			records[use.Record] = true
		}
		if err := s.addressed(ctx, l, before, lost); err != nil {
			return err
		}
		return s.addressed(ctx, l, after, left)
	})
	if err != nil {
		return err
	}
	given := func(name sharing.GivenName, _ bool) bool { return left[name] }
	maps.DeleteFunc(lost, given)
	for _, record := range slices.Sorted(maps.Keys(records)) {
		if len(lost) == 0 {
			break
		}
		others, err := s.Deployed(ctx, record)
		if err != nil {
			return err
		}
		maps.DeleteFunc(others, func(owner intent.Path, _ state.Lifecycle) bool { _, known := groups[owner]; return known })
		err = s.Renderer.Each(ctx, others, func(ctx context.Context, _ intent.Path, l state.Lifecycle) error {
			return s.addressed(ctx, l, after, left)
		})
		if err != nil {
			return err
		}
		maps.DeleteFunc(lost, given)
	}
	if len(lost) == 0 {
		return nil
	}
	return lastAddresses(cluster, lost)
}

// listedNames is how many names a refusal lists one by one, at most.
const listedNames = 100

// lastAddresses lists the names that would go with a cluster.
func lastAddresses(cluster intent.Path, lost map[sharing.GivenName]bool) error {
	var names []string
	for name := range lost {
		names = append(names, name.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	refusal := &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf(
		"%s has the last addresses of %s; undrain another cluster that has some, or remove the names with --force (?force=true)",
		intent.ClusterOf(cluster), state.Few(names))}
	for _, name := range names[:min(len(names), listedNames)] {
		refusal.Fields = append(refusal.Fields, intent.Field{Detail: name + " would be left without any address"})
	}
	return refusal
}

// addressed notes the public names of a group that have an address while some clusters are
// drained, those that templates made for one cluster too. Health does not matter: a
// drained cluster is often unhealthy, and a cluster that is unhealthy for a moment has
// addresses all the same.
func (s *Operator) addressed(ctx context.Context, l state.Lifecycle, drained state.DrainedClusters, names map[sharing.GivenName]bool) error {
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return err
	}
	group := regardless(l.Placed(release.Group))
	records, err := s.Pinned(ctx, group)
	if err != nil {
		return err
	}
	contents, err := render.Render(ctx, group, records, drained, nil, s.Renderer.ObservedSources(group))
	for n, choices := range contents.Choices {
		b := group.Bindings[n]
		for h, host := range b.Hosts {
			if b.Scope == intent.Public && len(endpoints.Sets(host, choices[h])) > 0 {
				names[sharing.Given(group, b, host.Name)] = true
			}
		}
	}
	return err
}

// regardless is a group whose names do not ask who is healthy.
func regardless(g plan.Group) plan.Group {
	g.Bindings = slices.Clone(g.Bindings)
	for n, b := range g.Bindings {
		g.Bindings[n].Hosts = slices.Clone(b.Hosts)
		for h := range b.Hosts {
			g.Bindings[n].Hosts[h].Health = nil
		}
	}
	return g
}
