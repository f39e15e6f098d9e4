package release

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
)

// A logical cloud has a lifecycle as a deployment intent group has: what it
// releases is the DNS of its clusters, as its DNS CR intents say.

// IsCloud tells a logical cloud's path from those of other owners.
func IsCloud(owner intent.Path) bool {
	return strings.HasSuffix(owner.Collection(), "/logical-clouds")
}

// dnsCRIntent is a DNS CR intent with the path that errors about it name.
type dnsCRIntent struct {
	path intent.Path
	spec intent.DNSCRIntent
}

func (s *Service) readDNSCRIntents(ctx context.Context, in *inputs) error {
	docs, err := in.list(ctx, string(in.owner.Path)+"/dns-cr-intents")
	if err != nil {
		return err
	}
	for _, doc := range docs {
		resource, err := note[intent.DNSCRIntent](in, doc)
		if err != nil {
			return err
		}
		in.dnsIntents = append(in.dnsIntents, dnsCRIntent{doc.Path, resource.Spec})
	}
	return nil
}

// draftCloud resolves which DNS CR intent configures which cluster.
func (s *Service) draftCloud(ctx context.Context, in *inputs, before Lifecycle) (*draft, error) {
	d := &draft{in: in, records: map[string]recordDraft{}}
	d.group = plan.Group{
		Installation: s.Installation, Path: in.owner.Path, UID: in.owner.UID,
		Project:      plan.Project{Name: in.project.Metadata.Name, Namespace: in.project.Spec.Namespace},
		LogicalCloud: in.owner.Path.Name(), LogicalCloudNamespace: in.cloud.Spec.Namespace,
	}
	pinned, err := s.pinnedDNS(ctx, before)
	if err != nil {
		return nil, err
	}
	for _, i := range in.dnsIntents {
		d.configure(i, pinned, s.ImageRegistry)
	}
	if len(in.dnsIntents) == 0 {
		d.fail(in.owner.Path, "/dns-cr-intents", "the logical cloud has no DNS CR intent; post one first, or terminate what is deployed")
	}
	slices.SortFunc(d.group.DNS, func(a, b plan.ClusterDNS) int { return strings.Compare(a.Cluster, b.Cluster) })
	if s.Handed != nil {
		d.refuseImports()
	}
	if err := s.checkReverseZones(ctx, d); err != nil {
		return nil, err
	}
	s.collectClusters(d)
	d.inputs = in.inputs()
	return d, nil
}

// refuseImports refuses what EMCO's rsync cannot do: put single keys into an
// object of somebody else.
func (d *draft) refuseImports() {
	for _, i := range d.in.dnsIntents {
		if i.spec.Mode == intent.Import {
			d.fail(i.path, "/spec/mode", "EMCO's rsync (--rsync-endpoint) cannot share a ConfigMap with the CoreDNS that imports it; use mode dedicated")
		}
	}
}

// configure has an intent configure the clusters that it selects. Two on one
// cluster would undo each other.
func (d *draft) configure(i dnsCRIntent, pinned map[string]plan.ClusterDNS, registry string) {
	clusters := d.in.selected(i.spec.Clusters, i.spec.ClusterLabels, func(stranger intent.ClusterRef) {
		d.fail(i.path, "/spec/clusters", "cluster %s is no cluster reference of logical cloud %q", stranger, d.group.LogicalCloud)
	})
	if len(clusters) == 0 {
		d.warn("DNS CR intent %q configures no cluster: logical cloud %q has none that fits", i.path.Name(), d.group.LogicalCloud)
	}
	for _, name := range clusters {
		if other, twice := dnsOn(d.group, name); twice {
			d.fail(i.path, "/spec/clusters", "DNS CR intents %q and %q both configure cluster %s; narrow one of them by clusters or clusterLabels", other.Intent, i.path.Name(), name)
			continue
		}
		dns := plan.ClusterDNS{Intent: i.path.Name(), Cluster: name, Domain: d.in.clusters[name].Spec.Domain(), Spec: completed(i.spec, d.group.LogicalCloudNamespace)}
		if dns.Spec.Mode == intent.Import && d.in.clusters[name].Spec.Directory != "" {
			d.fail(i.path, "/spec/mode", "cluster %s is a directory, in which a ConfigMap cannot be shared with the CoreDNS that imports it; use mode dedicated there", name)
		}
		d.checkDNS(i.path, dns)
		d.checkLocalIP(i.path, dns)
		d.group.DNS = append(d.group.DNS, withImages(dns, pinned[name], registry))
	}
}

// completed is an intent with what it leaves out, as releases hold it: stock
// CoreDNS also walks the search paths of the logical cloud's own namespace.
func completed(spec intent.DNSCRIntent, namespace string) intent.DNSCRIntent {
	spec.Mode = cmp.Or(spec.Mode, intent.Dedicated)
	spec.Namespace = cmp.Or(spec.Namespace, intent.DefaultDNSNamespace)
	if spec.Autopath.Static() {
		walked := *spec.Autopath
		walked.Namespaces = slices.Sorted(slices.Values(append([]string{namespace}, walked.Namespaces...)))
		walked.Namespaces = slices.Compact(walked.Namespaces)
		spec.Autopath = &walked
	}
	return spec
}

// withImages decides what runs: what the intent names, else what runs already.
// Where search paths come in an option, no CoreDNS but ours takes it.
func withImages(dns, was plan.ClusterDNS, registry string) plan.ClusterDNS {
	if dns.Spec.NodeResolver != nil || clusterdns.HasNodeCache(dns) {
		dns.ResolverImage = cmp.Or(was.ResolverImage, defaultImage(registry, intent.SignpostDNSImage))
	}
	if clusterdns.Expands(dns) {
		dns.Image = cmp.Or(dns.Spec.Image, dns.ResolverImage)
		return dns
	}
	dns.Image = cmp.Or(dns.Spec.Image, was.Image, defaultImage(registry, intent.CoreDNSImage))
	return dns
}

// checkDNS notes what cannot work in one cluster: a domain that takes in the
// cluster's own, which may have come after the intent.
func (d *draft) checkDNS(path intent.Path, dns plan.ClusterDNS) {
	_, err := clusterdns.Configure(dns)
	var failure *intent.Error
	if errors.As(err, &failure) {
		for _, f := range failure.Fields {
			d.fail(path, f.Pointer, "on %s: %s", dns.Cluster, f.Detail)
		}
	}
}

// checkLocalIP notes an address of the nodes' caches that the cluster's own DNS
// service has, which may have been said after the intent.
func (d *draft) checkLocalIP(path intent.Path, dns plan.ClusterDNS) {
	own := d.in.clusters[dns.Cluster].Spec.DNS
	if own == nil || !clusterdns.HasNodeCache(dns) {
		return
	}
	address, err := netip.ParseAddr(own.Address)
	if err == nil && address.String() == clusterdns.LocalIP(dns) {
		d.fail(path, "/spec/nodeLocalDNS/localIP", "on %s: %s is the address of the DNS service of the cluster (its dns.address), which would be out of reach from every node; give another address", dns.Cluster, address)
	}
}

// dnsOn is the DNS that a logical cloud has on a cluster.
func dnsOn(g plan.Group, cluster string) (plan.ClusterDNS, bool) {
	at := slices.IndexFunc(g.DNS, func(dns plan.ClusterDNS) bool { return dns.Cluster == cluster })
	if at < 0 {
		return plan.ClusterDNS{}, false
	}
	return g.DNS[at], true
}

// defaultImage is an image, or its copy in the registry that holds copies.
func defaultImage(registry, image string) string {
	if registry == "" {
		return image
	}
	_, name, _ := strings.Cut(image, "/")
	return path.Join(registry, name)
}

// pinnedDNS is what the current release runs on each cluster: a new version of
// Signpost brings no other images by itself. What the DNS pods run counts only
// where it is stock CoreDNS.
func (s *Service) pinnedDNS(ctx context.Context, l Lifecycle) (map[string]plan.ClusterDNS, error) {
	out := map[string]plan.ClusterDNS{}
	if !l.deployed() {
		return out, nil
	}
	release, err := s.loadRelease(ctx, l.ContextID)
	for _, dns := range release.Group.DNS {
		was := plan.ClusterDNS{ResolverImage: dns.ResolverImage}
		if dns.Spec.Image == "" && !clusterdns.Expands(dns) {
			was.Image = dns.Image
		}
		out[dns.Cluster] = was
	}
	return out, err
}
