package ownership

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// namespaceRequests are the namespaces that a release writes, ordered, none twice. They
// are those of its apps, and on the same clusters that of its logical cloud. Its
// project's own is for external-dns and DNSEndpoints. The namespaces of the DNS of clusters
// count, but for the one that all share. An orchestrator has rules of its own for what it
// deploys.
func namespaceRequests(g plan.Group) []resolve.ClaimRequest {
	if g.Orchestrated != nil {
		return nil
	}
	holder := resolve.HolderOf(g)
	requests := map[nameclaim.Key]resolve.ClaimRequest{}
	add := func(cluster, namespace string, b resolve.ClaimRequest) {
		b.Key, b.Through = nameclaim.Key{View: resolve.InNamespaces + cluster, Name: namespace}, holder
		if _, known := requests[b.Key]; !known {
			requests[b.Key] = b
		}
	}
	for _, app := range g.Apps {
		for _, cluster := range app.Clusters {
			add(cluster, g.LogicalCloudNamespace, resolve.ClaimRequest{Purpose: resolve.OfCloud})
			add(cluster, app.Namespace, resolve.ClaimRequest{Purpose: resolve.OfApp, By: app.Name})
		}
	}
	for _, b := range g.Bindings {
		if intent.IsPublisher(b.Cluster) {
			continue // it has no namespaces
		}
		add(b.Cluster, g.Project.Namespace, resolve.ClaimRequest{Purpose: resolve.OfProject})
	}
	for _, dns := range g.AllDNS() {
		if dns.Spec.Namespace != intent.DefaultDNSNamespace {
			add(dns.Cluster, dns.Spec.Namespace, resolve.ClaimRequest{Purpose: resolve.OfDNS, By: dns.Intent})
		}
	}
	return slices.SortedFunc(maps.Values(requests), resolve.CompareRequests)
}

// servicesIn are the namespaces of the Services that a release publishes. None
// may be another project's, and nobody claims them: several projects may publish
// what one ingress offers.
func servicesIn(g plan.Group) []resolve.ClaimRequest {
	if g.Orchestrated != nil {
		return nil
	}
	var requests []resolve.ClaimRequest
	holder := resolve.HolderOf(g)
	for _, b := range g.Bindings {
		if b.Service == "" { // a name with fixed targets
			continue
		}
		for _, cluster := range b.Sources {
			requests = append(requests, resolve.ClaimRequest{Key: nameclaim.Key{View: resolve.InNamespaces + cluster, Name: b.Namespace}, Through: holder, Purpose: resolve.OfServices, By: b.Service})
		}
	}
	slices.SortStableFunc(requests, resolve.CompareRequests)
	return slices.CompactFunc(requests, func(a, b resolve.ClaimRequest) bool { return a.Key == b.Key })
}

// CheckNamespaceClaims refuses namespaces of clusters that are another project's.
func (s *Registry) CheckNamespaceClaims(ctx context.Context, p *resolve.Proposal) error {
	d := p.Draft
	if p.Action == intent.Terminate || d.Group.Path == "" {
		return nil
	}
	refuse := func(b resolve.ClaimRequest, project string, _ nameclaim.Verdict, by nameclaim.Entry) {
		at, advice := AsksFor(d, b)
		d.Fail(at.Path, at.Pointer, "%s is %s; %s", b, whose(ctx, project, by), advice)
	}
	if err := s.judge(ctx, p, namespaceRequests(d.Group), refuse); err != nil {
		return err
	}
	looked := &resolve.Proposal{Request: p.Request, Lifecycle: p.Lifecycle, Draft: d, Claims: p.Claims}
	return s.judge(ctx, looked, servicesIn(d.Group), refuse)
}

// whose tells who has a namespace to those who may know.
func whose(ctx context.Context, project string, by nameclaim.Entry) string {
	if !intent.By(ctx).Sees(project) {
		return "another project's"
	}
	text := fmt.Sprintf("project %q's, for %s", project, cmp.Or(by.Group, by.Through))
	if by.Stays {
		text += " and until it is gone from the cluster"
	}
	return text
}

// AsksFor is where a draft asks for a namespace, and what to do where it cannot
// have it.
func AsksFor(d *resolve.Draft, b resolve.ClaimRequest) (at resolve.Place, advice string) {
	path := d.Group.Path
	if intent.IsName(path) && b.Purpose == resolve.OfServices {
		return resolve.Place{Path: path, Pointer: "/spec/service"}, "give the name a Service of another namespace"
	}
	switch b.Purpose {
	case resolve.OfCloud:
		return resolve.Place{Path: b.Through, Pointer: "/spec/namespace"}, "give the logical cloud or the app another namespace"
	case resolve.OfServices:
		return resolve.Place{Path: intentFor(d, b.By), Pointer: "/spec/namespace"}, fmt.Sprintf("service %q cannot be published from there: give the intent another namespace", b.By)
	case resolve.OfProject:
		return resolve.Place{Path: intent.Join("projects", d.Group.Project.Name), Pointer: "/spec/namespace"}, "external-dns cannot run there: give the project another namespace, or have the other project release it"
	case resolve.OfDNS:
		return resolve.Place{Path: path.Child("dns-cr-intents", b.By), Pointer: "/spec/namespace"}, "give the DNS CR intent another namespace, or remove the field for " + intent.DefaultDNSNamespace
	}
	return resolve.Place{Path: path, Pointer: "/spec/apps"}, "give the logical cloud or the app another namespace"
}

// intentFor is the first DNS intent that gives a Service names; the group where
// none is known, as in a rollback.
func intentFor(d *resolve.Draft, service string) intent.Path {
	var paths []intent.Path
	for key, at := range d.Places {
		if key.Service == service {
			paths = append(paths, at.Path)
		}
	}
	if len(paths) == 0 {
		return d.Group.Path
	}
	return slices.Min(paths)
}

// keeper is the entry of a namespace's claim once it is confirmed. All groups of the
// logical cloud share it, and it holds as long as the logical cloud exists. Names have
// none, nor has the DNS of clusters: when it is gone, others may have theirs in its
// place.
func (s *claimHolders) keeper(ctx context.Context, b resolve.ClaimRequest) (nameclaim.Entry, error) {
	if _, is := resolve.NamespaceOn(b.Key); !is || b.Purpose == resolve.OfDNS {
		return nameclaim.Entry{}, nil
	}
	uid, err := s.document(ctx, b.Through)
	return nameclaim.Entry{UID: uid, Through: b.Through, Stays: uid != ""}, err
}

// ClaimHome claims the project's namespace on the cluster that a record moves to, for the
// logical clouds of the groups that follow it. If it cannot be had, why is the reason.
// The claim is to be written before the move is accepted. Otherwise it holds as long as a
// logical cloud, and keeps others from a namespace that is the project's anyway.
func (s *Registry) ClaimHome(ctx context.Context, p *resolve.RecordProposal) (changes []nameclaim.Change, why string, err error) {
	if p.Frozen.Home.IsPublisher() {
		return nil, "", nil // there are no namespaces
	}
	project, holders := p.Frozen.Project, s.claimHolders()
	b := resolve.ClaimRequest{Key: nameclaim.Key{View: resolve.InNamespaces + p.Frozen.Home.String(), Name: project.Namespace}, Purpose: resolve.OfProject}
	claims, err := s.Names().Read(ctx, []nameclaim.Key{b.Key})
	if err != nil {
		return nil, "", err
	}
	before, claim := claims[b.Key], claims[b.Key]
	for _, path := range slices.Sorted(maps.Keys(p.Users)) {
		l := p.Users[path]
		if !l.UsesPublic(p.Frozen.Path) {
			continue
		}
		group := plan.Group{Path: path, Project: project}
		if !intent.IsName(path) { // names have the project itself as their holder
			release, err := s.LoadRelease(ctx, l.ContextID)
			if intent.CodeOf(err) == intent.NotFound {
				err = &intent.Error{Code: intent.PreconditionFailed, Detail: "another release has just taken the place of " + l.ContextID, Err: err}
			}
			if err != nil {
				return nil, "", err
			}
			group = release.Group
		}
		if group.Orchestrated != nil {
			continue
		}
		b.Through = resolve.HolderOf(group)
		keeper, err := holders.keeper(ctx, b)
		if err != nil || !keeper.Stays || claim.Has(project.Name, keeper) {
			if err != nil {
				return nil, "", err
			}
			continue
		}
		next, verdict, by, err := claim.Request(project.Name, keeper, holders.of(ctx, b.Key))
		if err != nil {
			return nil, "", err
		}
		if verdict != nameclaim.Granted {
			return nil, fmt.Sprintf("%s is %s; choose another cluster", b, whose(ctx, before.Project, by)), nil
		}
		claim = next
		changes = []nameclaim.Change{{Key: b.Key, Claim: claim}}
	}
	return changes, "", nil
}

// NamespaceTenant is another project that has a namespace on some cluster by its
// releases; empty for none. The namespace's use comes with it. If clusters cannot be
// listed, as those of an orchestrator that is down, none is found. Then a plan refuses
// the namespace there.
func (s *Registry) NamespaceTenant(ctx context.Context, namespace, but string) (project string, what intent.Path, err error) {
	clusters, err := s.clusterNames(ctx)
	if intent.CodeOf(err) == intent.Unavailable {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	keys := make([]nameclaim.Key, len(clusters))
	for n, cluster := range clusters {
		keys[n] = nameclaim.Key{View: resolve.InNamespaces + cluster, Name: namespace}
	}
	claims, err := s.Names().Read(ctx, keys)
	if err != nil {
		return "", "", err
	}
	holders := s.claimHolders()
	for _, key := range keys {
		claim := claims[key]
		if claim.Project == "" || claim.Project == but {
			continue
		}
		_, verdict, by, err := claim.Request(but, nameclaim.Entry{}, holders.of(ctx, key))
		if err != nil {
			return "", "", err
		}
		if verdict == nameclaim.Taken {
			return claim.Project, cmp.Or(by.Group, by.Through), nil
		}
	}
	return "", "", nil
}

// Foreign tells of a namespace of clusters where it is a project's other than the one
// given, which has objects there. A claim alone is not enough: apps without manifests
// claim namespaces that nobody has granted to them.
func (s *Registry) Foreign(ctx context.Context, clusters []string, namespace, project string) (map[string]bool, error) {
	var keys []nameclaim.Key
	for _, cluster := range clusters {
		keys = append(keys, nameclaim.Key{View: resolve.InNamespaces + cluster, Name: namespace})
	}
	claims, err := s.Names().Read(ctx, keys)
	if err != nil {
		return nil, err
	}
	foreign := map[string]bool{}
	for n, cluster := range clusters {
		if foreign[cluster], err = s.isForeign(ctx, cluster, keys[n], claims[keys[n]], project); err != nil {
			return nil, err
		}
	}
	return foreign, nil
}

func (s *Registry) isForeign(ctx context.Context, cluster string, key nameclaim.Key, claim nameclaim.Claim, project string) (bool, error) {
	if claim.Project == "" || claim.Project == project {
		return false, nil
	}
	entry, found, err := s.Ledger.Get(ctx, bundle.ID{Cluster: cluster, Kind: "Namespace", Name: key.Name})
	if err != nil || !found || !entry.CreatedByUs && entry.Status != ledger.Applied {
		return false, err
	}
	_, verdict, _, err := claim.Request(project, nameclaim.Entry{}, s.claimHolders().of(ctx, key))
	return verdict == nameclaim.Taken, err
}

// clusterNames are all clusters, as "provider+cluster".
func (s *Registry) clusterNames(ctx context.Context) ([]string, error) {
	var names []string
	err := intent.Each(ctx, s.Documents, intent.ListOptions{Collection: "cluster-providers"}, func(provider intent.Document) error {
		return intent.Each(ctx, s.Documents, intent.ListOptions{Collection: string(provider.Path) + "/clusters"}, func(doc intent.Document) error {
			names = append(names, intent.ClusterOf(doc.Path).String())
			return nil
		})
	})
	return names, err
}
