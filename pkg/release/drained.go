package release

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// drainedPath names the one document that lists the drained clusters. There is
// one for all, so that of two drains at once the later knows of the earlier:
// together they shall not leave a name without an address.
const drainedPath = intent.Path(intent.OperationCollection + "/drained-clusters")

// drainedClusters are the drained ones, by "provider+cluster".
type drainedClusters map[string]drainedCluster

type drainedCluster struct {
	intent.Drained
	UID string `json:"uid"` // of the cluster's document: another one of the same name is not drained
}

// drainedList is the list as it was read.
type drainedList struct {
	clusters drainedClusters
	revision int64
}

// drained reads the list. Clusters whose documents are gone are not on it.
func (s *Service) drained(ctx context.Context) (drainedList, error) {
	list := drainedList{clusters: drainedClusters{}}
	stored, err := readDocument(ctx, s.Documents, drainedPath, &list.clusters)
	if err != nil {
		return list, err
	}
	list.revision = stored.Revision
	for _, name := range slices.Sorted(maps.Keys(list.clusters)) {
		cluster := list.clusters[name]
		ref, _ := intent.ParseCluster(name)
		doc, err := s.Documents.Get(ctx, ref.Path())
		switch intent.CodeOf(err) {
		case intent.Unavailable: // EMCO keeps the document, and does not answer
			continue
		case intent.NotFound:
			delete(list.clusters, name)
			continue
		}
		if err != nil {
			return list, err
		}
		if doc.UID != cluster.UID {
			delete(list.clusters, name)
		}
	}
	return list, nil
}

// mark says which offers are of drained clusters: they are kept out of public
// names. A name of cluster scope is for those inside the cluster, who are still
// there.
func (d drainedClusters) mark(b plan.Binding, offers []address.Offer) {
	if b.Scope != intent.Public {
		return
	}
	for i, offer := range offers {
		_, offers[i].Standing.Drained = d[offer.Service.Cluster]
	}
}

// Drained says since when a cluster is drained, nil when it is not.
func (s *Service) Drained(ctx context.Context, cluster intent.Path) (*intent.Drained, error) {
	list, err := s.drained(ctx)
	if err != nil {
		return nil, err
	}
	if found, drained := list.clusters[intent.ClusterOf(cluster).String()]; drained {
		return &found.Drained, nil
	}
	return nil, nil
}

// Drain takes a cluster's addresses out of all public names, within their
// releases; its objects stay. It is idempotent. Conflict when a name would be
// left without any address, unless forced, and when the cluster is inventory
// only and EMCO deploys nothing there; NotFound when there is no such cluster.
func (s *Service) Drain(ctx context.Context, cluster intent.Path, force bool, actor string) error {
	doc, err := s.Documents.Get(ctx, cluster)
	if err != nil {
		return err
	}
	resource, err := intent.Of[intent.Cluster](doc)
	if err != nil {
		return err
	}
	groups, err := s.deployed(ctx, cluster)
	if err != nil {
		return err
	}
	if inventoryOnly(resource.Spec) && len(groups) == 0 {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf(
			"cluster %s is inventory only, with neither kubeconfig nor directory, and EMCO has no app of a deployment intent group there: Signpost publishes none of its addresses, so there is nothing to drain", intent.ClusterOf(cluster))}
	}
	if err := s.drainCluster(ctx, cluster, force, actor); err != nil {
		return err
	}
	s.tellOf(ctx, cluster, intent.Drain, actor)
	return nil
}

// tellOf tells what was done to a cluster.
func (s *Service) tellOf(ctx context.Context, cluster intent.Path, action intent.Action, actor string) {
	s.tell(ctx, cluster, intent.Event{Time: s.Now().UTC(), Actor: actor, RequestID: intent.By(ctx).RequestID, Action: action, Outcome: "completed"})
}

// drainCluster is Drain for clusters of any kind.
func (s *Service) drainCluster(ctx context.Context, cluster intent.Path, force bool, actor string) error {
	err := s.order(ctx, cluster, func(list drainedClusters, uid string) (drainedClusters, error) {
		name := intent.ClusterOf(cluster).String()
		if _, already := list[name]; already {
			return list, nil
		}
		next := maps.Clone(list)
		next[name] = drainedCluster{Drained: intent.Drained{Since: s.Now().UTC(), Actor: actor}, UID: uid}
		if force {
			return next, nil
		}
		return next, s.keepsAddresses(ctx, cluster, list, next)
	})
	if err == nil {
		s.Logger.InfoContext(ctx, "cluster is drained", "cluster", intent.ClusterOf(cluster), "forced", force, "actor", actor)
	}
	return err
}

// Undrain lets a cluster's addresses be published again. It is idempotent.
// Conflict when the cluster is abandoned.
func (s *Service) Undrain(ctx context.Context, cluster intent.Path, actor string) error {
	abandoned, err := s.Abandoned(ctx, cluster)
	if err != nil {
		return err
	}
	if abandoned != nil {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is abandoned, so what it offers is not known; delete its document and register it again", intent.ClusterOf(cluster))}
	}
	err = s.order(ctx, cluster, func(list drainedClusters, _ string) (drainedClusters, error) {
		next := maps.Clone(list)
		delete(next, intent.ClusterOf(cluster).String())
		return next, nil
	})
	if err == nil {
		s.Logger.InfoContext(ctx, "cluster is not drained", "cluster", intent.ClusterOf(cluster), "actor", actor)
		s.tellOf(ctx, cluster, intent.Undrain, actor)
	}
	return err
}

// order changes the list, and has the groups that use the cluster choose their
// addresses anew.
func (s *Service) order(ctx context.Context, cluster intent.Path, change func(list drainedClusters, uid string) (drainedClusters, error)) error {
	_, err := undisturbed(cluster, func() (struct{}, error) {
		doc, err := s.Documents.Get(ctx, cluster)
		if err != nil {
			return struct{}{}, err
		}
		list, err := s.drained(ctx)
		if err != nil {
			return struct{}{}, err
		}
		next, err := change(list.clusters, doc.UID)
		if err != nil || maps.Equal(next, list.clusters) {
			return struct{}{}, err
		}
		_, err = swapDocument(ctx, s.Documents, next, intent.Write{Path: drainedPath}, list.revision)
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	return s.eachGroup(ctx, cluster, func(group intent.Path, _ Lifecycle) { s.wake(group) })
}

// keepsAddresses refuses a list of drained clusters that would leave a name of
// a group of the cluster without any address, when it has some. What other app
// services give the name, of that group or of others, counts.
func (s *Service) keepsAddresses(ctx context.Context, cluster intent.Path, before, after drainedClusters) error {
	groups, err := s.deployed(ctx, cluster)
	if err != nil {
		return err
	}
	lost, users := map[givenName]bool{}, map[intent.Path]Lifecycle{}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		l := groups[group]
		had, err := s.addressed(ctx, l, before)
		if err != nil {
			return err
		}
		maps.Copy(lost, had)
		for _, use := range l.Uses {
			others, err := s.deployed(ctx, use.Record)
			if err != nil {
				return err
			}
			maps.Copy(users, others)
		}
	}
	for _, user := range slices.Sorted(maps.Keys(users)) {
		has, err := s.addressed(ctx, users[user], after)
		if err != nil {
			return err
		}
		maps.DeleteFunc(lost, func(name givenName, _ bool) bool { return has[name] })
	}
	if len(lost) == 0 {
		return nil
	}
	return lastAddresses(cluster, lost)
}

// listedNames is how many names a refusal lists one by one, at most.
const listedNames = 100

// lastAddresses lists the names that would go with a cluster.
func lastAddresses(cluster intent.Path, lost map[givenName]bool) error {
	var names []string
	for name := range lost {
		names = append(names, name.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	refusal := &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf(
		"%s has the last addresses of %s; undrain another cluster that has some, or force it by ?force=true (--force), and the names go",
		intent.ClusterOf(cluster), few(names))}
	for _, name := range names[:min(len(names), listedNames)] {
		refusal.Fields = append(refusal.Fields, intent.Field{Detail: name + " would be left without any address"})
	}
	return refusal
}

// addressed are the public names of a group that have an address while some
// clusters are drained, those that templates made for one cluster too. Who is healthy does not matter: what is drained is often sick,
// and what is sick for a moment has addresses all the same.
func (s *Service) addressed(ctx context.Context, l Lifecycle, drained drainedClusters) (map[givenName]bool, error) {
	release, err := s.loadRelease(ctx, l.ContextID)
	if err != nil {
		return nil, err
	}
	group := regardless(l.placed(release.Group))
	records, err := s.pinned(ctx, group)
	if err != nil {
		return nil, err
	}
	contents, err := fill(ctx, group, records, drained, nil, s.seen(group))
	names := map[givenName]bool{}
	for n, choices := range contents.choices {
		b := group.Bindings[n]
		for h, host := range b.Hosts {
			if b.Scope == intent.Public && len(endpoints.Sets(host, choices[h])) > 0 {
				names[given(group, b, host.Name)] = true
			}
		}
	}
	return names, err
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
