package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/grant"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// MadeBy says who has made a namespace of a cluster.
type MadeBy string

// Who may have made a namespace.
const (
	NotKnown MadeBy = ""       // the cluster does not tell
	Nobody   MadeBy = "nobody" // it is not there
	Us       MadeBy = "us"     // this installation of Signpost
	Others   MadeBy = "others"
)

// tenant is a project on a cluster, with what administrators have granted there.
type tenant struct {
	project intent.Path
	granted intent.Project
	cluster intent.Path
	on      intent.Cluster
}

// refused says why the tenant may put no objects into a namespace; empty: it may.
// Where its cluster has been asked, madeBy says who made the namespace.
func (t tenant) refused(namespace string, madeBy MadeBy) (why string) {
	own := namespace == t.granted.Namespace && !grant.Platform(namespace)
	switch {
	case own, namespace == intent.DefaultDNSNamespace, grant.Both(t.granted.Namespaces, t.on.Namespaces, namespace):
		return ""
	case grant.Platform(namespace):
		why = "is a platform namespace"
	case t.on.Directory != "" && len(t.granted.Namespaces)+len(t.on.Namespaces) == 0:
		return ""
	case t.on.Directory != "":
		why = "is none of those that are granted"
	case madeBy == Others:
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

// tenant is the project of a draft on one of its clusters.
func (d *draft) tenant(cluster string) tenant {
	ref, _ := intent.ParseCluster(cluster)
	return tenant{project: d.in.projectPath(), granted: d.in.project.Spec, cluster: ref.Path(), on: d.in.clusters[cluster].Spec}
}

// placements are the namespaces of clusters into which a release puts objects,
// ordered, none twice: the logical cloud's, for apps with manifests, its
// project's, and those of the DNS of clusters.
func placements(g plan.Group) []bid {
	cloud := intent.Join("projects", g.Project.Name, "logical-clouds", g.LogicalCloud)
	var bids []bid
	add := func(cluster, namespace string, purpose purpose, by string) {
		bids = append(bids, bid{key: nameclaim.Key{View: inNamespaces + cluster, Name: namespace}, through: cloud, purpose: purpose, by: by})
	}
	for _, app := range g.Apps {
		if len(app.Manifests) == 0 {
			continue
		}
		for _, cluster := range app.Clusters {
			add(cluster, g.LogicalCloudNamespace, ofCloud, "")
		}
	}
	for _, b := range g.Bindings {
		add(b.Cluster, g.Project.Namespace, ofProject, "")
	}
	for _, dns := range g.DNS {
		add(dns.Cluster, dns.Spec.Namespace, ofDNS, dns.Intent)
	}
	slices.SortStableFunc(bids, compareBids)
	return slices.CompactFunc(bids, func(a, b bid) bool { return a.key == b.key })
}

// checkGranted refuses namespaces that Signpost did not make, unless
// administrators granted them, and what manifests may not hold without a grant.
func (s *Service) checkGranted(ctx context.Context, d *draft) error {
	if d.group.Path == "" {
		return nil
	}
	bids := placements(d.group)
	madeBy, err := s.madeBy(ctx, d, bids)
	if err != nil {
		return err
	}
	for _, b := range bids {
		cluster, _ := namespaceOn(b.key)
		why := d.tenant(cluster).refused(b.key.Name, madeBy[b.key])
		if why == "" && b.purpose == ofDNS && madeBy[b.key] == NotKnown {
			why = d.importBlind(cluster, b)
		}
		if why != "" {
			at, advice := d.asksFor(b)
			if b.purpose == ofProject {
				advice = "give the project another"
			}
			d.fail(at.path, at.pointer, "%s %s; or %s", b, why, advice)
		}
	}
	d.checkManifests()
	return nil
}

// importBlind says why a DNS CR intent of mode import may not go into a
// namespace of which nothing is known: no Namespace is made there, by which the
// worker would see whose it is.
func (d *draft) importBlind(cluster string, b bid) (why string) {
	t := d.tenant(cluster)
	dns, known := dnsOn(d.group, cluster)
	if !known || dns.Spec.Mode != intent.Import || t.refused(b.key.Name, Others) == "" {
		return ""
	}
	return fmt.Sprintf("cannot be looked at, as the cluster does not answer; try again, or have an administrator of all projects add %q to spec.namespaces of %s",
		b.key.Name, strings.Join(t.lacks(b.key.Name), " and of "))
}

// madeBy tells who made namespaces, as far as that matters and is known.
func (s *Service) madeBy(ctx context.Context, d *draft, bids []bid) (map[nameclaim.Key]MadeBy, error) {
	const atOnce = 16
	var mu sync.Mutex
	all := map[nameclaim.Key]MadeBy{}
	looks, looking := errgroup.WithContext(ctx)
	looks.SetLimit(atOnce)
	for _, b := range bids {
		cluster, _ := namespaceOn(b.key)
		if d.tenant(cluster).refused(b.key.Name, Others) == "" {
			continue // whoever made it
		}
		looks.Go(func() error {
			is, err := s.maker(looking, cluster, b.key.Name)
			mu.Lock()
			defer mu.Unlock()
			all[b.key] = is
			return err
		})
	}
	return all, looks.Wait()
}

// maker tells who made a namespace of a cluster: as the ledger says, else as one
// look at the cluster does.
func (s *Service) maker(ctx context.Context, cluster, namespace string) (MadeBy, error) {
	entry, found, err := s.Ledger.Get(ctx, bundle.ID{Cluster: cluster, Kind: "Namespace", Name: namespace})
	switch {
	case err != nil:
		return NotKnown, err
	case found && entry.CreatedByUs:
		return Us, nil
	case found && (entry.Status == ledger.Applied || entry.Status == ledger.Failed):
		return Others, nil
	case s.PeekNamespace == nil:
		return NotKnown, nil
	}
	is, err := s.PeekNamespace(ctx, cluster, namespace)
	if err != nil {
		s.Logger.DebugContext(ctx, "a cluster did not answer a plan", "cluster", cluster, "error", err)
		return NotKnown, ctx.Err()
	}
	return is, nil
}

// NamespaceRefused says why owners may not put objects into a namespace of a
// cluster that is there and that Signpost did not make; empty where all of them
// may, by what is granted now.
func (s *Service) NamespaceRefused(ctx context.Context, cluster, namespace string, owners []string) (why string, err error) {
	ref, _ := intent.ParseCluster(cluster)
	t := tenant{cluster: ref.Path()}
	if t.on, err = granter[intent.Cluster](ctx, s.Documents, t.cluster); err != nil {
		return "", err
	}
	for _, owner := range owners {
		t.project = intent.Join("projects", appcontext.Owner(owner).Project())
		if t.granted, err = granter[intent.Project](ctx, s.Documents, t.project); err != nil {
			return "", err
		}
		if why = cmp.Or(why, t.refused(namespace, Others)); why != "" {
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
