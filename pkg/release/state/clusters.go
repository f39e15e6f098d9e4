package state

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// DrainedPath names the one document that lists the drained clusters. There is one for
// all. So of two drains at once, the later knows of the earlier: together they shall not
// leave a name without an address.
const DrainedPath = intent.Path(intent.OperationCollection + "/drained-clusters")

// DrainedClusters are the drained ones, by "provider+cluster".
type DrainedClusters map[string]DrainedCluster

// DrainedCluster says why and since when a cluster is drained.
type DrainedCluster struct {
	intent.Drained
	UID string `json:"uid"` // of the cluster's document: another one of the same name is not drained

	Undrained *intent.Drained `json:"undrained,omitempty"` // since when, and by whom, it is not drained any more; nil: it is drained
	Earlier   *DrainedCluster `json:"earlier,omitempty"`   // what was undrained lately, before it was drained anew
	Timed     bool            `json:"timed,omitempty"`     // the events of its drain and undrain have the same times
}

// DrainedList is the list as it was read.
type DrainedList struct {
	Clusters  DrainedClusters
	Undrained DrainedClusters // lately: the groups that they touch tell who did it
	Revision  int64
}

// NoneDrained is the list of an installation that has none.
func NoneDrained() DrainedList { return DrainedList{Clusters: DrainedClusters{}} }

// DrainedClusters reads the list. Clusters whose documents are gone are not on it.
func (s *Store) DrainedClusters(ctx context.Context) (DrainedList, error) {
	list := DrainedList{Clusters: DrainedClusters{}}
	stored, err := readDocument(ctx, s.Documents, DrainedPath, &list.Clusters)
	if err != nil {
		return list, err
	}
	list.Revision = stored.Revision
	list.Clusters, list.Undrained = list.Clusters.parted()
	for _, name := range slices.Sorted(maps.Keys(list.Clusters)) {
		cluster := list.Clusters[name]
		doc, err := s.Documents.Get(ctx, intent.ClusterPath(name))
		switch intent.CodeOf(err) {
		case intent.Unavailable: // an orchestrator keeps the document, and does not answer
			continue
		case intent.NotFound:
			delete(list.Clusters, name)
			continue
		}
		if err != nil {
			return list, err
		}
		if doc.UID != cluster.UID {
			delete(list.Clusters, name)
		}
	}
	return list, nil
}

// parted are the clusters that are drained, and those that are not any more.
func (d DrainedClusters) parted() (drained, undrained DrainedClusters) {
	drained, undrained = DrainedClusters{}, DrainedClusters{}
	for name, cluster := range d {
		if cluster.Undrained == nil {
			drained[name] = cluster
		} else {
			undrained[name] = cluster
		}
	}
	return drained, undrained
}

const (
	remembered   = 24 * time.Hour // how long the list tells who undrained a cluster
	mostUndrains = 16             // of one cluster, that the list remembers
)

// Change is the list with other clusters drained. For a day it remembers who undrained a
// cluster, also of one that is drained anew.
func (l DrainedList) Change(drained DrainedClusters, by intent.Drained) DrainedClusters {
	next := DrainedClusters{}
	for name, cluster := range l.Undrained {
		if was := cluster.lately(by.Since, mostUndrains); was != nil {
			next[name] = *was
		}
	}
	for name, cluster := range l.Clusters {
		cluster.Undrained, cluster.Earlier = &by, cluster.Earlier.lately(by.Since, mostUndrains-1)
		cluster.Timed = cluster.Timed || by.Since.Sub(cluster.Since) >= remembered // nobody tells of that drain any more
		next[name] = cluster
	}
	for name, cluster := range drained {
		if _, already := l.Clusters[name]; !already {
			cluster.Timed = true
			if was, lately := next[name]; lately {
				cluster.Earlier = &was
			}
		}
		next[name] = cluster
	}
	return next
}

// lately are the last undrains of a cluster, at most so many.
func (c *DrainedCluster) lately(now time.Time, most int) *DrainedCluster {
	if c == nil || most == 0 || now.Sub(c.Undrained.Since) >= remembered {
		return nil
	}
	was := *c
	was.Earlier = c.Earlier.lately(now, most-1)
	return &was
}

// Undrains are the undrains that are remembered, by cluster.
func (l DrainedList) Undrains() iter.Seq2[string, DrainedCluster] {
	return func(yield func(string, DrainedCluster) bool) {
		for _, list := range []DrainedClusters{l.Undrained, l.Clusters} {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				for c := new(list[name]); c != nil; c = c.Earlier {
					if c.Undrained != nil && !yield(name, *c) {
						return
					}
				}
			}
		}
	}
}

// Mark says which offers are of drained clusters: they are kept out of public
// names. A name of cluster scope is for those inside the cluster, who are still
// there.
func (d DrainedClusters) Mark(b plan.Binding, offers []address.Offer) {
	if b.Scope != intent.Public {
		return
	}
	for i, offer := range offers {
		_, offers[i].Standing.Drained = d[offer.Service.Cluster]
	}
}

// Abandoned says since when a cluster is abandoned, nil when it is not. The abandonment
// ends with the document that was abandoned. The first reader to find that lifts it, and
// the name starts over.
func (s *Store) Abandoned(ctx context.Context, cluster intent.Path) (*intent.Abandoned, error) {
	a, err := s.Ledger.Abandoned(ctx, intent.ClusterOf(cluster).String())
	if a == nil || err != nil {
		return nil, err
	}
	doc, err := s.Documents.Get(ctx, cluster)
	switch {
	case err != nil && intent.CodeOf(err) != intent.NotFound:
		return nil, err
	case err == nil && doc.UID == a.UID:
		return &a.Abandoned, nil
	}
	s.Logger.InfoContext(ctx, "the document of an abandoned cluster is gone", "cluster", a.Cluster)
	ops := []kv.Op{observed.Forget(a.Cluster)}
	for _, forget := range s.Forget {
		ops = append(ops, forget(a.Cluster))
	}
	return nil, s.Ledger.Lift(ctx, *a, ops...)
}

// IsAbandoned says whether a cluster ("provider+cluster") is.
func (s *Store) IsAbandoned(ctx context.Context, cluster string) (bool, error) {
	a, err := s.Abandoned(ctx, intent.ClusterPath(cluster))
	return a != nil, err
}

// Unattended says whether the external-dns of a record may run on where nobody can end
// it. That is on its abandoned cluster, or in an abandoned home that the record left
// before its external-dns was seen to end.
func (s *Store) Unattended(ctx context.Context, record plan.Record, scope intent.Scope, cluster string) (bool, error) {
	all, err := s.Ledger.Abandonments(ctx)
	if err != nil {
		return false, err
	}
	for _, a := range all {
		abandoned, err := s.IsAbandoned(ctx, a.Cluster)
		if err != nil {
			return false, err
		}
		switch {
		case !abandoned:
		case a.Cluster == cluster:
			return true, nil
		case scope == intent.Public:
			left, err := s.Ledger.LeftBehind(ctx, a.Cluster)
			runs := bundle.ID{
				Cluster: a.Cluster, Group: "apps", Kind: "Deployment",
				Namespace: record.Project.Namespace, Name: provider.DeploymentName(record.Name, scope),
			}
			if err != nil || slices.Contains(left, runs) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// Reached are the clusters that a group touches, and whether Signpost pushes to
// them: not to those of apps that an orchestrator deploys, as such.
func Reached(g plan.Group) map[string]bool {
	pushed := map[string]bool{}
	for _, b := range g.Bindings {
		for _, source := range b.Sources { // of a name, which has no apps
			pushed[source] = false
		}
	}
	for _, cluster := range Placed(g) {
		pushed[cluster] = g.Orchestrated == nil
	}
	for _, b := range g.Bindings {
		pushed[b.Cluster] = true
	}
	return pushed
}

// Placed are the clusters of a group's apps and DNS, wherever the homes of its
// names are. Apps that an orchestrator deploys matter if something is asked for them.
func Placed(g plan.Group) []string {
	var clusters []string
	for _, app := range g.Apps {
		if g.Orchestrated == nil || Asked(g, app) {
			clusters = append(clusters, app.Clusters...)
		}
	}
	for _, dns := range g.AllDNS() {
		clusters = append(clusters, dns.Cluster)
	}
	return clusters
}

// Asked says whether names, or DNS settings of its pods, are asked for an app.
func Asked(g plan.Group, app plan.App) bool {
	return app.PodDNS != nil || slices.ContainsFunc(g.Bindings, func(b plan.Binding) bool { return b.App == app.Name })
}
