package release

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// inNamespaces begins the views that namespaces of clusters are in.
const inNamespaces = "namespace-"

// namespaceOn is the cluster that a key is a namespace of.
func namespaceOn(key nameclaim.Key) (cluster string, is bool) {
	return strings.CutPrefix(key.View, inNamespaces)
}

// purpose is what a release wants a namespace of a cluster for.
type purpose string

const (
	ofCloud    purpose = "of the logical cloud"
	ofApp      purpose = "of an app"
	ofServices purpose = "of Services that are published"
	ofProject  purpose = "of the project, for external-dns and DNSEndpoints"
	ofDNS      purpose = "of the cluster's DNS"
)

// namespaceBids are the namespaces that a release writes: those of its apps, and
// on the same clusters that of its logical cloud; its project's own, where
// external-dns and DNSEndpoints go; and those of the DNS of clusters, but for the
// one that all share. Ordered, none twice. EMCO has rules of its own for what it
// deploys.
func namespaceBids(g plan.Group) []bid {
	if g.Orchestrated != nil {
		return nil
	}
	cloud := intent.Join("projects", g.Project.Name, "logical-clouds", g.LogicalCloud)
	bids := map[nameclaim.Key]bid{}
	add := func(cluster, namespace string, b bid) {
		b.key, b.through = nameclaim.Key{View: inNamespaces + cluster, Name: namespace}, cloud
		if _, known := bids[b.key]; !known {
			bids[b.key] = b
		}
	}
	for _, app := range g.Apps {
		for _, cluster := range app.Clusters {
			add(cluster, g.LogicalCloudNamespace, bid{purpose: ofCloud})
			add(cluster, app.Namespace, bid{purpose: ofApp, by: app.Name})
		}
	}
	for _, b := range g.Bindings {
		add(b.Cluster, g.Project.Namespace, bid{purpose: ofProject})
	}
	for _, dns := range g.AllDNS() {
		if dns.Spec.Namespace != intent.DefaultDNSNamespace {
			add(dns.Cluster, dns.Spec.Namespace, bid{purpose: ofDNS, by: dns.Intent})
		}
	}
	return slices.SortedFunc(maps.Values(bids), compareBids)
}

// servicesIn are the namespaces of the Services that a release publishes. None
// may be another project's, and nobody claims them: several projects may publish
// what one ingress offers.
func servicesIn(g plan.Group) []bid {
	if g.Orchestrated != nil {
		return nil
	}
	var bids []bid
	cloud := intent.Join("projects", g.Project.Name, "logical-clouds", g.LogicalCloud)
	for _, b := range g.Bindings {
		for _, cluster := range b.Sources {
			bids = append(bids, bid{key: nameclaim.Key{View: inNamespaces + cluster, Name: b.Namespace}, through: cloud, purpose: ofServices, by: b.Service})
		}
	}
	slices.SortStableFunc(bids, compareBids)
	return slices.CompactFunc(bids, func(a, b bid) bool { return a.key == b.key })
}

// checkNamespaceClaims refuses namespaces of clusters that are another project's.
func (s *Service) checkNamespaceClaims(ctx context.Context, p *proposal) error {
	d := p.draft
	if p.action == intent.Terminate || d.group.Path == "" {
		return nil
	}
	refuse := func(b bid, project string, _ nameclaim.Verdict, by nameclaim.Entry) {
		at, advice := d.asksFor(b)
		d.fail(at.path, at.pointer, "%s is %s; %s", b, whose(ctx, project, by), advice)
	}
	if err := s.judge(ctx, p, namespaceBids(d.group), refuse); err != nil {
		return err
	}
	looked := &proposal{request: p.request, lifecycle: p.lifecycle, draft: d}
	return s.judge(ctx, looked, servicesIn(d.group), refuse)
}

// whose tells who has a namespace to those who may know.
func whose(ctx context.Context, project string, by nameclaim.Entry) string {
	if !intent.By(ctx).Sees(project) {
		return "another project's"
	}
	return fmt.Sprintf("project %q's, for %s", project, cmp.Or(by.Group, by.Through))
}

// asksFor is where a draft asks for a namespace, and what to do where it cannot
// have it.
func (d *draft) asksFor(b bid) (at place, advice string) {
	path := d.group.Path
	switch b.purpose {
	case ofCloud:
		return place{path: b.through, pointer: "/spec/namespace"}, "give the logical cloud, or the app, another"
	case ofServices:
		return place{path: d.intentFor(b.by), pointer: "/spec/namespace"}, fmt.Sprintf("service %q cannot be published from there: give the intent another", b.by)
	case ofProject:
		return place{path: intent.Join("projects", d.group.Project.Name), pointer: "/spec/namespace"}, "external-dns cannot be there: give the project another, or have that one let go of it"
	case ofDNS:
		return place{path: path.Child("dns-cr-intents", b.by), pointer: "/spec/namespace"}, "give the DNS CR intent another, or leave it out for " + intent.DefaultDNSNamespace
	}
	return place{path: path, pointer: "/spec/apps"}, "give the logical cloud, or the app, another"
}

// intentFor is the first DNS intent that gives a Service names; the group where
// none is known, as in a rollback.
func (d *draft) intentFor(service string) intent.Path {
	var paths []intent.Path
	for key, at := range d.places {
		if key.service == service {
			paths = append(paths, at.path)
		}
	}
	if len(paths) == 0 {
		return d.group.Path
	}
	return slices.Min(paths)
}

// keeper is the entry of a namespace's claim once it is confirmed: all groups of
// the logical cloud have one, which holds as long as the logical cloud is there.
// Names have none, nor has the DNS of clusters: when it is gone, others may have
// theirs in its place.
func (s *claimants) keeper(ctx context.Context, b bid) (nameclaim.Entry, error) {
	if _, is := namespaceOn(b.key); !is || b.purpose == ofDNS {
		return nameclaim.Entry{}, nil
	}
	uid, err := s.document(ctx, b.through)
	return nameclaim.Entry{UID: uid, Through: b.through, Stays: uid != ""}, err
}

// claimHome claims the project's namespace on the cluster that a record moves to,
// for the logical clouds of the groups that follow it there. why is why it cannot
// be had, empty where it can. The claim is to be written before the move is
// accepted; where it is not, it holds as long as a logical cloud, and keeps others
// from a namespace alone that is the project's anyway.
func (s *Service) claimHome(ctx context.Context, p *recordProposal) (changes []nameclaim.Change, why string, err error) {
	groups, err := s.groupsOf(ctx, p.frozen.Path)
	if err != nil {
		return nil, "", err
	}
	project, claimants := p.frozen.Project, s.claimants()
	b := bid{key: nameclaim.Key{View: inNamespaces + p.frozen.Home.String(), Name: project.Namespace}, purpose: ofProject}
	claims, err := s.names().Read(ctx, []nameclaim.Key{b.key})
	if err != nil {
		return nil, "", err
	}
	before, claim := claims[b.key], claims[b.key]
	for _, path := range slices.Sorted(maps.Keys(groups)) {
		release, err := s.loadRelease(ctx, groups[path].ContextID)
		if intent.CodeOf(err) == intent.NotFound {
			err = &intent.Error{Code: intent.PreconditionFailed, Detail: "another release has just taken the place of " + groups[path].ContextID, Err: err}
		}
		if err != nil {
			return nil, "", err
		}
		if release.Group.Orchestrated != nil {
			continue
		}
		b.through = intent.Join("projects", project.Name, "logical-clouds", release.Group.LogicalCloud)
		keeper, err := claimants.keeper(ctx, b)
		if err != nil || !keeper.Stays || claim.Has(project.Name, keeper) {
			if err != nil {
				return nil, "", err
			}
			continue
		}
		next, verdict, by, err := claim.Bid(project.Name, keeper, claimants.of(ctx, b.key))
		if err != nil {
			return nil, "", err
		}
		if verdict != nameclaim.Granted {
			return nil, fmt.Sprintf("%s is %s; choose another cluster", b, whose(ctx, before.Project, by)), nil
		}
		claim = next
		changes = []nameclaim.Change{{Key: b.key, Claim: claim}}
	}
	return changes, "", nil
}

// NamespaceTenant is the project that has a namespace on some cluster, for what it
// has released, other than the one given; empty for none. what it is for comes
// with it. Where clusters cannot be listed, as those of EMCO while its CLM is down,
// none is found: then a plan refuses what a project would have there.
func (s *Service) NamespaceTenant(ctx context.Context, namespace, but string) (project string, what intent.Path, err error) {
	clusters, err := s.clusterNames(ctx)
	if intent.CodeOf(err) == intent.Unavailable {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	keys := make([]nameclaim.Key, len(clusters))
	for n, cluster := range clusters {
		keys[n] = nameclaim.Key{View: inNamespaces + cluster, Name: namespace}
	}
	claims, err := s.names().Read(ctx, keys)
	if err != nil {
		return "", "", err
	}
	claimants := s.claimants()
	for _, key := range keys {
		claim := claims[key]
		if claim.Project == "" || claim.Project == but {
			continue
		}
		_, verdict, by, err := claim.Bid(but, nameclaim.Entry{}, claimants.of(ctx, key))
		if err != nil {
			return "", "", err
		}
		if verdict == nameclaim.Taken {
			return claim.Project, cmp.Or(by.Group, by.Through), nil
		}
	}
	return "", "", nil
}

// clusterNames are all clusters, as "provider+cluster".
func (s *Service) clusterNames(ctx context.Context) ([]string, error) {
	providers, err := s.Documents.List(ctx, intent.ListOptions{Collection: "cluster-providers"})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, provider := range providers.Items {
		clusters, err := s.Documents.List(ctx, intent.ListOptions{Collection: string(provider.Path) + "/clusters"})
		if err != nil {
			return nil, err
		}
		for _, doc := range clusters.Items {
			names = append(names, intent.ClusterRef{ClusterProvider: provider.Path.Name(), Cluster: doc.Path.Name()}.String())
		}
	}
	return names, nil
}
