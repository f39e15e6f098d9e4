package tenancy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// tenant is a project on a cluster, with what administrators have granted there.
type tenant struct {
	project intent.Path
	granted intent.Project
	cluster intent.Path
	on      intent.Cluster
}

// refused says why the tenant may put no objects into a namespace; empty: it may.
// If its cluster has been asked, madeBy says who made the namespace.
func (t tenant) refused(namespace string, madeBy grant.MadeBy) (why string) {
	own := namespace == t.granted.Namespace && !grant.Platform(namespace)
	switch {
	case own, namespace == intent.DefaultDNSNamespace, grant.Both(t.granted.Namespaces, t.on.Namespaces, namespace):
		return ""
	case grant.Platform(namespace):
		why = "is a platform namespace"
	case t.on.Directory != "" && len(t.granted.Namespaces)+len(t.on.Namespaces) == 0:
		return ""
	case t.on.Directory != "":
		why = "is not granted"
	case madeBy == grant.Others:
		why = "was not made by Signpost"
	default:
		return ""
	}
	return fmt.Sprintf("%s; have an administrator of all projects add %q to spec.namespaces of %s", why, namespace, strings.Join(t.lacks(namespace), " and of "))
}

// lacks are the documents that would have to grant a namespace.
func (t tenant) lacks(namespace string) []string {
	var paths []string
	project, cluster := grant.Namespaces(t.granted.Namespaces), grant.Namespaces(t.on.Namespaces)
	if !project.Hold(namespace) && (len(project) > 0 || len(cluster) == 0) {
		paths = append(paths, string(t.project))
	}
	if !cluster.Hold(namespace) && len(cluster) > 0 {
		paths = append(paths, string(t.cluster))
	}
	return paths
}

// tenantOn is the project of a draft on one of its clusters.
func tenantOn(d *resolve.Draft, cluster string) tenant {
	return tenant{project: d.In.ProjectPath(), granted: d.In.Project.Spec, cluster: intent.ClusterPath(cluster), on: d.In.Clusters[cluster].Spec}
}

// placements are the namespaces of clusters into which a release puts objects, ordered,
// none twice. They are the logical cloud's, for apps with manifests, its project's, and
// those of the DNS of clusters.
func placements(g plan.Group) []resolve.ClaimRequest {
	holder := resolve.HolderOf(g)
	var requests []resolve.ClaimRequest
	add := func(cluster, namespace string, purpose resolve.Purpose, by string) {
		requests = append(requests, resolve.ClaimRequest{Key: nameclaim.Key{View: resolve.InNamespaces + cluster, Name: namespace}, Through: holder, Purpose: purpose, By: by})
	}
	for _, app := range g.Apps {
		if len(app.Manifests) == 0 {
			continue
		}
		for _, cluster := range app.Clusters {
			add(cluster, g.LogicalCloudNamespace, resolve.OfCloud, "")
		}
	}
	for _, b := range g.Bindings {
		if intent.IsPublisher(b.Cluster) {
			continue // it has no namespaces
		}
		add(b.Cluster, g.Project.Namespace, resolve.OfProject, "")
	}
	for _, dns := range g.DNS {
		add(dns.Cluster, dns.Spec.Namespace, resolve.OfDNS, dns.Intent)
	}
	slices.SortStableFunc(requests, resolve.CompareRequests)
	return slices.CompactFunc(requests, func(a, b resolve.ClaimRequest) bool { return a.Key == b.Key })
}

// checkGranted refuses namespaces that Signpost did not make, unless
// administrators granted them, and what manifests may not hold without a grant.
func (s *Keeper) checkGranted(ctx context.Context, d *resolve.Draft) error {
	if d.Group.Path == "" {
		return nil
	}
	requests := placements(d.Group)
	madeBy, err := s.madeBy(ctx, d, requests)
	if err != nil {
		return err
	}
	for _, b := range requests {
		cluster, _ := resolve.NamespaceOn(b.Key)
		why := tenantOn(d, cluster).refused(b.Key.Name, madeBy[b.Key])
		if why == "" && b.Purpose == resolve.OfDNS && madeBy[b.Key] == grant.NotKnown {
			why = importBlind(d, cluster, b)
		}
		if why != "" {
			at, advice := ownership.AsksFor(d, b)
			if b.Purpose == resolve.OfProject {
				advice = "give the project another namespace"
			}
			d.Fail(at.Path, at.Pointer, "%s %s; or %s", b, why, advice)
		}
	}
	checkManifests(d)
	return nil
}

// importBlind says why a DNS CR intent of mode import may not go into an unknown
// namespace. No Namespace is made there, so the worker would not see whose it is.
func importBlind(d *resolve.Draft, cluster string, b resolve.ClaimRequest) (why string) {
	t := tenantOn(d, cluster)
	dns, known := resolve.DNSOn(d.Group, cluster)
	if !known || dns.Spec.Mode != intent.Import || t.refused(b.Key.Name, grant.Others) == "" {
		return ""
	}
	return fmt.Sprintf("cannot be checked, because the cluster does not answer; try again, or have an administrator of all projects add %q to spec.namespaces of %s",
		b.Key.Name, strings.Join(t.lacks(b.Key.Name), " and of "))
}

// madeBy tells who made namespaces, as far as that matters and is known.
func (s *Keeper) madeBy(ctx context.Context, d *resolve.Draft, requests []resolve.ClaimRequest) (map[nameclaim.Key]grant.MadeBy, error) {
	const atOnce = 16
	var mu sync.Mutex
	all := map[nameclaim.Key]grant.MadeBy{}
	looks, looking := errgroup.WithContext(ctx)
	looks.SetLimit(atOnce)
	for _, b := range requests {
		cluster, _ := resolve.NamespaceOn(b.Key)
		if tenantOn(d, cluster).refused(b.Key.Name, grant.Others) == "" {
			continue // it does not matter who made it
		}
		looks.Go(func() error {
			is, err := s.maker(looking, cluster, b.Key.Name)
			mu.Lock()
			defer mu.Unlock()
			all[b.Key] = is
			return err
		})
	}
	return all, looks.Wait()
}

// maker tells who made a namespace of a cluster: as the ledger says, else as one
// look at the cluster does.
func (s *Keeper) maker(ctx context.Context, cluster, namespace string) (grant.MadeBy, error) {
	entry, found, err := s.Ledger.Get(ctx, bundle.ID{Cluster: cluster, Kind: "Namespace", Name: namespace})
	switch {
	case err != nil:
		return grant.NotKnown, err
	case found && entry.CreatedByUs:
		return grant.Us, nil
	case found && (entry.Status == ledger.Applied || entry.Status == ledger.Failed):
		return grant.Others, nil
	case s.Live == nil:
		return grant.NotKnown, nil
	}
	is, err := s.Live.ReadNamespaceMaker(ctx, cluster, namespace)
	if err != nil {
		s.Logger.DebugContext(ctx, "a cluster did not answer a plan", "cluster", cluster, "error", err)
		return grant.NotKnown, ctx.Err()
	}
	return is, nil
}

// NamespaceRefused says why owners may not put objects into an existing namespace of a
// cluster that Signpost did not make. It is empty if all of them may, by the present
// grants.
func (s *Keeper) NamespaceRefused(ctx context.Context, cluster, namespace string, owners []string) (why string, err error) {
	t := tenant{cluster: intent.ClusterPath(cluster)}
	if t.on, err = granter[intent.Cluster](ctx, s.Documents, t.cluster); err != nil {
		return "", err
	}
	for _, owner := range owners {
		t.project = intent.Join("projects", appcontext.Owner(owner).Project())
		if t.granted, err = granter[intent.Project](ctx, s.Documents, t.project); err != nil {
			return "", err
		}
		if why = cmp.Or(why, t.refused(namespace, grant.Others)); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// granter reads a document that grants; one that is gone grants nothing.
func granter[Spec any](ctx context.Context, documents intent.Store, path intent.Path) (spec Spec, err error) {
	doc, err := documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return spec, nil
	}
	if err != nil {
		return spec, err
	}
	resource, err := intent.Of[Spec](doc)
	return resource.Spec, err
}
