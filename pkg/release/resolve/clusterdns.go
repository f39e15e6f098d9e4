package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// DraftCloud resolves which DNS CR intent configures which cluster.
func (s *Resolver) DraftCloud(ctx context.Context, in *inputs.Inputs, before state.Lifecycle) (*Draft, error) {
	d := s.newDraft(in)
	d.Group.LogicalCloud, d.Group.LogicalCloudNamespace = in.Owner.Path.Name(), in.Cloud.Spec.Namespace
	pinned, err := s.pinnedDNS(ctx, before)
	if err != nil {
		return nil, err
	}
	for _, i := range in.DNSCRIntents {
		d.configure(i, pinned, s.ImageRegistry)
	}
	if len(in.DNSCRIntents) == 0 {
		d.Fail(in.Owner.Path, "/dns-cr-intents", "the logical cloud has no DNS CR intent; post one first, or terminate the deployed DNS")
	}
	slices.SortFunc(d.Group.DNS, func(a, b plan.ClusterDNS) int { return strings.Compare(a.Cluster, b.Cluster) })
	if s.Inputs.DelegatedContexts != nil {
		d.refuseImports()
	}
	if err := s.checkReverseZones(ctx, d); err != nil {
		return nil, err
	}
	s.collectClusters(d)
	d.Inputs = in.Inputs()
	return d, nil
}

// refuseImports refuses what a deployer cannot do: put single keys into an
// object of somebody else.
func (d *Draft) refuseImports() {
	for _, i := range d.In.DNSCRIntents {
		if i.Spec.Mode == intent.Import {
			d.Fail(i.Path, "/spec/mode", "%s cannot share a ConfigMap with the CoreDNS that imports it; use mode dedicated", intent.Deployer)
		}
	}
}

// configure has an intent configure the clusters that it selects. Two on one
// cluster would undo each other.
func (d *Draft) configure(i inputs.DNSCRIntent, pinned map[string]plan.ClusterDNS, registry string) {
	clusters := d.In.Selected(i.Spec.Clusters, i.Spec.ClusterLabels, func(outside intent.ClusterRef) {
		d.Fail(i.Path, "/spec/clusters", "cluster %s is not a cluster reference of logical cloud %q", outside, d.Group.LogicalCloud)
	})
	if len(clusters) == 0 {
		d.Warn("DNS CR intent %q configures no cluster: no cluster of logical cloud %q matches", i.Path.Name(), d.Group.LogicalCloud)
	}
	for _, name := range clusters {
		if other, twice := DNSOn(d.Group, name); twice {
			d.Fail(i.Path, "/spec/clusters", "DNS CR intents %q and %q both configure cluster %s; narrow one of them by clusters or clusterLabels", other.Intent, i.Path.Name(), name)
			continue
		}
		dns := plan.ClusterDNS{Intent: i.Path.Name(), Cluster: name, Domain: d.In.Clusters[name].Spec.Domain(), Spec: Completed(i.Spec, d.Group.LogicalCloudNamespace)}
		if dns.Spec.Mode == intent.Import && d.In.Clusters[name].Spec.Directory != "" {
			d.Fail(i.Path, "/spec/mode", "cluster %s is a directory, where a ConfigMap cannot be shared with the CoreDNS that imports it; use mode dedicated there", name)
		}
		d.checkDNS(i.Path, dns)
		d.checkLocalIP(i.Path, dns)
		d.Group.DNS = append(d.Group.DNS, withImages(dns, pinned[name], registry))
	}
}

// Completed is an intent with its defaults, as releases hold it. Stock CoreDNS also walks
// the search paths of the logical cloud's own namespace.
func Completed(spec intent.DNSCRIntent, namespace string) intent.DNSCRIntent {
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

// withImages decides what runs: what the intent names, else what runs already. If search
// paths come in an option, no CoreDNS but ours takes it.
func withImages(dns, was plan.ClusterDNS, registry string) plan.ClusterDNS {
	if dns.Spec.NodeResolver != nil || clusterdns.HasNodeCache(dns) {
		dns.ResolverImage = cmp.Or(was.ResolverImage, state.DefaultImage(registry, intent.SignpostDNSImage))
	}
	if clusterdns.Expands(dns) {
		dns.Image = cmp.Or(dns.Spec.Image, dns.ResolverImage)
		return dns
	}
	dns.Image = cmp.Or(dns.Spec.Image, was.Image, state.DefaultImage(registry, intent.CoreDNSImage))
	return dns
}

// checkDNS notes what cannot work in one cluster: a domain that takes in the
// cluster's own, which may have come after the intent.
func (d *Draft) checkDNS(path intent.Path, dns plan.ClusterDNS) {
	_, err := clusterdns.Configure(dns)
	if failure, ok := errors.AsType[*intent.Error](err); ok {
		for _, f := range failure.Fields {
			d.Fail(path, f.Pointer, "on %s: %s", dns.Cluster, f.Detail)
		}
	}
}

// checkLocalIP notes an address of the nodes' caches that the cluster's own DNS
// service has, which may have been said after the intent.
func (d *Draft) checkLocalIP(path intent.Path, dns plan.ClusterDNS) {
	own := d.In.Clusters[dns.Cluster].Spec.DNS
	if own == nil || !clusterdns.HasNodeCache(dns) {
		return
	}
	address, err := netip.ParseAddr(own.Address)
	if err == nil && address.String() == clusterdns.LocalIP(dns) {
		d.Fail(path, "/spec/nodeLocalDNS/localIP", "on %s: %s is the address of the DNS service of the cluster (its dns.address), which no node could reach then; give another address", dns.Cluster, address)
	}
}

// DNSOn is the DNS that a logical cloud has on a cluster.
func DNSOn(g plan.Group, cluster string) (plan.ClusterDNS, bool) {
	at := slices.IndexFunc(g.DNS, func(dns plan.ClusterDNS) bool { return dns.Cluster == cluster })
	if at < 0 {
		return plan.ClusterDNS{}, false
	}
	return g.DNS[at], true
}

// pinnedDNS is what the current release runs on each cluster: a new version of Signpost
// brings no other images by itself. The image of the DNS pods counts only if it is stock
// CoreDNS.
func (s *Resolver) pinnedDNS(ctx context.Context, l state.Lifecycle) (map[string]plan.ClusterDNS, error) {
	out := map[string]plan.ClusterDNS{}
	if !l.Deployed() {
		return out, nil
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	for _, dns := range release.Group.DNS {
		was := plan.ClusterDNS{ResolverImage: dns.ResolverImage}
		if dns.Spec.Image == "" && !clusterdns.Expands(dns) {
			was.Image = dns.Image
		}
		out[dns.Cluster] = was
	}
	return out, err
}

// DNSPlace is what two DNS of a cluster cannot both have: a namespace, or an address on
// the nodes. In one namespace their objects would have the same names. At one address
// each cache would get some of the other's queries.
type DNSPlace struct {
	Cluster string
	Name    string // a namespace, or an IP address, which no namespace is called
	Address bool
}

// DNSPlaces are those that a DNS takes.
func DNSPlaces(dns plan.ClusterDNS) []DNSPlace {
	places := []DNSPlace{{Cluster: dns.Cluster, Name: dns.Spec.Namespace}}
	if clusterdns.HasNodeCache(dns) {
		places = append(places, DNSPlace{Cluster: dns.Cluster, Name: clusterdns.LocalIP(dns), Address: true})
	}
	return places
}

// Takes finds the DNS that takes a place.
func Takes(all []plan.ClusterDNS, place DNSPlace) (dns plan.ClusterDNS, ok bool) {
	at := slices.IndexFunc(all, func(dns plan.ClusterDNS) bool { return slices.Contains(DNSPlaces(dns), place) })
	if at < 0 {
		return plan.ClusterDNS{}, false
	}
	return all[at], true
}

// checkReverseZones refuses zones that are known to hold the names of a cluster's own
// Services. They are known by the address of its DNS service, and of the one that
// Signpost has made there. Either may have come after the intent.
func (s *Resolver) checkReverseZones(ctx context.Context, d *Draft) error {
	for _, dns := range d.Group.DNS {
		var known []netip.Addr
		if own := d.In.Clusters[dns.Cluster].Spec.DNS; own != nil {
			if at, err := netip.ParseAddr(own.Address); err == nil {
				known = append(known, at)
			}
		}
		seen, err := s.Observed.Service(ctx, address.Service{Cluster: dns.Cluster, Namespace: dns.Spec.Namespace, Name: clusterdns.ServiceName})
		if err != nil {
			return err
		}
		if seen != nil {
			for _, ip := range seen.ClusterIPs {
				if at, err := netip.ParseAddr(ip); err == nil {
					known = append(known, at)
				}
			}
		}
		d.refuseReverse(dns, known)
	}
	return nil
}

func (d *Draft) refuseReverse(dns plan.ClusterDNS, known []netip.Addr) {
	zones := zonesOf(dns.Spec)
	for _, pointer := range slices.Sorted(maps.Keys(zones)) {
		zone := zones[pointer]
		for _, network := range hostname.ReverseNetworks(zone) {
			at := slices.IndexFunc(known, func(a netip.Addr) bool { return network.Contains(a.Unmap()) })
			if at >= 0 {
				d.Fail(d.Group.Path.Child("dns-cr-intents", dns.Intent), pointer,
					"on %s: %s holds the names of the cluster's Services, such as %s: their PTR records would no longer be answered; give zones outside those networks", dns.Cluster, zone, known[at])
				break
			}
		}
	}
}

// zonesOf are the zones that an intent forwards, by their pointers.
func zonesOf(spec intent.DNSCRIntent) map[string]string {
	zones := map[string]string{}
	if spec.PluginConfig != nil {
		for n, plugin := range spec.PluginConfig.ForwardPlugins {
			zones[fmt.Sprintf("/spec/pluginConfig/forwardPlugins/%d/domain", n)] = plugin.Domain
		}
	}
	for n, server := range spec.Servers {
		for m, zone := range server.Zones {
			zones[fmt.Sprintf("/spec/servers/%d/zones/%d", n, m)] = zone
		}
	}
	return zones
}
