package release

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
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
	var err error
	if list.revision, err = readDocument(ctx, s.Documents, drainedPath, &list.clusters); err != nil {
		return list, err
	}
	for name, cluster := range list.clusters {
		ref, _ := ParseCluster(name)
		doc, err := s.Documents.Get(ctx, ref.Path())
		if err != nil && intent.CodeOf(err) != intent.NotFound {
			return list, err
		}
		if err != nil || doc.UID != cluster.UID {
			delete(list.clusters, name)
		}
	}
	return list, nil
}

// withhold keeps the offers of drained clusters out of public names. A name of
// cluster scope is for those inside the cluster, who are still there.
func (d drainedClusters) withhold(b plan.Binding, offers []address.Offer) {
	if b.Scope != intent.Public {
		return
	}
	for i, offer := range offers {
		if _, drained := d[offer.Service.Cluster]; drained {
			offers[i].Withheld = "the cluster is drained"
		}
	}
}

// Drained says since when a cluster is drained, nil when it is not.
func (s *Service) Drained(ctx context.Context, cluster intent.Path) (*intent.Drained, error) {
	list, err := s.drained(ctx)
	if err != nil {
		return nil, err
	}
	if found, drained := list.clusters[ClusterOf(cluster).String()]; drained {
		return &found.Drained, nil
	}
	return nil, nil
}

// Drain takes a cluster's addresses out of all public names, within their
// releases; its objects stay. It is idempotent. Conflict when a name would be
// left without any address, unless forced, and NotFound when there is no such
// cluster.
func (s *Service) Drain(ctx context.Context, cluster intent.Path, force bool, actor string) error {
	err := s.order(ctx, cluster, func(list drainedClusters, uid string) (drainedClusters, error) {
		name := ClusterOf(cluster).String()
		if _, already := list[name]; already {
			return list, nil
		}
		next := maps.Clone(list)
		next[name] = drainedCluster{intent.Drained{Since: s.Now().UTC(), Actor: actor}, uid}
		if force {
			return next, nil
		}
		return next, s.keepsAddresses(ctx, cluster, list, next)
	})
	if err == nil {
		s.Logger.InfoContext(ctx, "cluster is drained", "cluster", ClusterOf(cluster), "forced", force, "actor", actor)
	}
	return err
}

// Undrain lets a cluster's addresses be published again. It is idempotent.
func (s *Service) Undrain(ctx context.Context, cluster intent.Path, actor string) error {
	err := s.order(ctx, cluster, func(list drainedClusters, _ string) (drainedClusters, error) {
		next := maps.Clone(list)
		delete(next, ClusterOf(cluster).String())
		return next, nil
	})
	if err == nil {
		s.Logger.InfoContext(ctx, "cluster is not drained", "cluster", ClusterOf(cluster), "actor", actor)
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
		_, err = swapDocument(ctx, s.Documents, drainedPath, next, nil, list.revision)
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	return s.eachGroup(ctx, cluster, func(group intent.Path, _ Lifecycle) { s.wake(group) })
}

// keepsAddresses refuses a list of drained clusters that would leave a name of
// a group of the cluster without any address, when it has some.
func (s *Service) keepsAddresses(ctx context.Context, cluster intent.Path, before, after drainedClusters) error {
	var groups []Lifecycle
	err := s.eachGroup(ctx, cluster, func(_ intent.Path, l Lifecycle) {
		if l.deployed() {
			groups = append(groups, l)
		}
	})
	if err != nil {
		return err
	}
	var lost []string
	for _, l := range groups {
		names, err := s.losing(ctx, l, before, after)
		if err != nil {
			return err
		}
		lost = append(lost, names...)
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf(
		"%s has the last addresses of %s; undrain another cluster, or force it, and the names go",
		ClusterOf(cluster), strings.Join(slices.Compact(lost), ", "))}
}

// losing are the names of a group that have addresses before and none after.
func (s *Service) losing(ctx context.Context, l Lifecycle, before, after drainedClusters) ([]string, error) {
	release, err := s.loadRelease(ctx, l.ContextID)
	if err != nil {
		return nil, err
	}
	records, err := s.pinned(ctx, release.Group)
	if err != nil {
		return nil, err
	}
	with, err := fill(ctx, release.Group, records, before, s.observation)
	if err != nil {
		return nil, err
	}
	without, err := fill(ctx, release.Group, records, after, s.observation)
	if err != nil {
		return nil, err
	}
	var names []string
	for i, b := range release.Group.Bindings {
		if with.choices[i].Some() && !without.choices[i].Some() {
			for _, host := range b.Hosts {
				names = append(names, host.Name)
			}
		}
	}
	return names, nil
}
