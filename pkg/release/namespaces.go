package release

import (
	"context"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// namespaceKey is a namespace of a cluster among the claims: a logical cloud's
// namespace is its project's there, from its first release on until the logical
// cloud is deleted.
func namespaceKey(cluster, namespace string) nameclaim.Key {
	return nameclaim.Key{View: "namespace-" + cluster, Name: namespace}
}

// namespaceKeys are those that Signpost puts a group's apps into, ordered, none
// twice; own are those of the logical cloud. EMCO has rules of its own for what
// it deploys.
func namespaceKeys(g plan.Group) (all, own []nameclaim.Key) {
	if g.Orchestrated != nil {
		return nil, nil
	}
	for _, app := range g.Apps {
		for _, cluster := range app.Clusters {
			own = append(own, namespaceKey(cluster, g.LogicalCloudNamespace))
			all = append(all, own[len(own)-1], namespaceKey(cluster, app.Namespace))
		}
	}
	return distinct(all), distinct(own)
}

func distinct(keys []nameclaim.Key) []nameclaim.Key {
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}

// checkNamespaceClaims refuses namespaces of clusters in which a logical cloud
// of another project is.
func (s *Service) checkNamespaceClaims(ctx context.Context, d *draft) error {
	all, _ := namespaceKeys(d.group)
	claims, err := s.names().Read(ctx, all)
	if err != nil {
		return err
	}
	claimants := s.claimants()
	for _, key := range all {
		_, verdict, by, err := claims[key].Bid(d.group.Project.Name, nameclaim.Entry{}, claimants.of(ctx, key))
		if err != nil {
			return err
		}
		if verdict != nameclaim.Granted {
			d.fail(d.in.cloudPath, "/spec/namespace", "%s", namespaceTaken(ctx, key, claims[key].Project, by))
		}
	}
	return nil
}

func namespaceTaken(ctx context.Context, key nameclaim.Key, project string, by nameclaim.Entry) string {
	whose := "another project's logical cloud"
	if intent.By(ctx).Sees(project) {
		whose = string(by.Through)
	}
	return fmt.Sprintf("namespace %q of cluster %s is that of %s; give the logical cloud, or the app, another", key.Name, key.View[len("namespace-"):], whose)
}

// claimNamespaces claims the namespaces of a draft's logical cloud. Of two
// projects that do so at once, one gets it.
func (s *Service) claimNamespaces(ctx context.Context, d *draft) error {
	changes, lost, err := s.namespaceClaims(ctx, d.group, d.in.cloudPath, d.in.read[d.in.cloudPath].UID)
	if err == nil && len(lost) > 0 {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: "namespace " + lost[0].Name + " has just been claimed"}
	}
	if err != nil {
		return err
	}
	return s.names().Write(ctx, changes)
}

// adoptNamespaces claims those of a release that an earlier Signpost has made,
// but for what another project has claimed already.
func (s *Service) adoptNamespaces(ctx context.Context, g plan.Group) error {
	path := intent.Join("projects", g.Project.Name, "logical-clouds", g.LogicalCloud)
	cloud, err := s.Documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	changes, _, err := s.namespaceClaims(ctx, g, path, cloud.UID)
	if err != nil {
		return err
	}
	return s.names().Write(ctx, changes)
}

// namespaceClaims are the claims of the namespaces of a group's logical cloud with
// that in them, where they are not yet so, and those that another project has.
func (s *Service) namespaceClaims(ctx context.Context, g plan.Group, cloud intent.Path, uid string) (changes []nameclaim.Change, lost []nameclaim.Key, err error) {
	_, own := namespaceKeys(g)
	claims, err := s.names().Read(ctx, own)
	if err != nil {
		return nil, nil, err
	}
	mine := nameclaim.Entry{UID: uid, Through: cloud, Stays: true}
	claimants := s.claimants()
	for _, key := range own {
		claim := claims[key]
		if claim.Project == g.Project.Name && slices.ContainsFunc(claim.Entries, mine.Same) {
			continue
		}
		next, verdict, _, err := claim.Bid(g.Project.Name, mine, claimants.of(ctx, key))
		if err != nil {
			return nil, nil, err
		}
		if verdict != nameclaim.Granted {
			lost = append(lost, key)
			continue
		}
		changes = append(changes, nameclaim.Change{Key: key, Claim: next})
	}
	return changes, lost, nil
}
