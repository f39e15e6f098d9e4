package admit

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// dnsCRIntent admits a DNS CR intent.
func (a *Admitter) dnsCRIntent(ctx context.Context, r *review, in, _ *intent.DNSCRIntent) error {
	clusters, err := a.dnsClusters(ctx, r, in)
	if err != nil {
		return err
	}
	if err := a.dnsNamespace(ctx, r, in.Namespace); err != nil {
		return err
	}
	zones := &zones{review: r, domains: clusters.domains, own: clusters.addresses, toNodes: in.NodeResolver != nil && in.Mode != intent.Import, walked: in.Autopath != nil, first: map[string]pointer{}}
	zones.plugins(in.PluginConfig)
	zones.servers(in.Servers)
	r.upstreamResolvers(in.UpstreamResolvers)
	r.dnsCache(in.Cache)
	r.word(spec+"/logLevel", in.LogLevel, "log level", "Normal", "Debug", "Trace")
	r.word(spec+"/operatorLogLevel", in.OperatorLogLevel, "log level", "Normal", "Debug", "Trace")
	r.nodePlacement(in.NodePlacement)
	r.nodeResolver(in.NodeResolver)
	r.nodeLocalDNS(in, clusters.addresses)
	r.autopath(in.Autopath, clusters.domains)
	r.dnsMode(in)
	if in.Image != "" {
		a.dnsImage(r, in)
	}
	if in.ManagementState != "" && in.ManagementState != "Managed" {
		r.refusef(spec+"/managementState", "%s is not supported: what is deployed is managed; give Managed, or leave it out", quote(in.ManagementState))
	}
	return nil
}

// dnsClusters are the clusters that an intent is for.
type dnsClusters struct {
	domains   []clusterDomain       // the default one first
	addresses map[netip.Addr]string // of their own DNS services, and which cluster has each
}

// dnsClusters checks which clusters the intent is for.
func (a *Admitter) dnsClusters(ctx context.Context, r *review, in *intent.DNSCRIntent) (*dnsClusters, error) {
	cloud := r.path.Parent()
	references, err := a.references(ctx, cloud)
	if err != nil {
		return nil, err
	}
	r.labels(spec+"/clusterLabels", in.ClusterLabels)
	if err := a.appClusters(ctx, r, spec+"/clusters", in.Clusters, cloud, references); err != nil {
		return nil, err
	}
	out := &dnsClusters{
		domains:   []clusterDomain{{name: intent.DefaultClusterDomain, whose: "a cluster's own domain unless it has another"}},
		addresses: map[netip.Addr]string{},
	}
	for ref := range references {
		if len(in.Clusters) > 0 && !slices.Contains(in.Clusters, ref) {
			continue
		}
		cluster, err := find[intent.Cluster](ctx, a.store, ref.Path())
		if err != nil {
			return nil, err
		}
		if cluster != nil && cluster.DNS != nil && hasLabels(cluster.Labels, in.ClusterLabels) {
			out.add(ref.String(), *cluster.DNS)
		}
	}
	slices.SortFunc(out.domains[1:], func(a, b clusterDomain) int { return strings.Compare(a.whose, b.whose) })
	return out, nil
}

// add notes what one cluster has. Of those with the same address, the first by
// name stands for all.
func (c *dnsClusters) add(cluster string, own intent.ClusterDNS) {
	if own.Domain != "" {
		c.domains = append(c.domains, clusterDomain{name: own.Domain, whose: "the own domain of cluster " + cluster})
	}
	address, err := netip.ParseAddr(own.Address)
	if other, twice := c.addresses[address]; err == nil && (!twice || cluster < other) {
		c.addresses[address] = cluster
	}
}

// dnsImage checks what the DNS pods run. Stock CoreDNS starts with no Corefile
// that names a plugin of ours.
func (a *Admitter) dnsImage(r *review, in *intent.DNSCRIntent) {
	const at = spec + "/image"
	if in.Autopath == nil || in.Autopath.Static() {
		a.image(r, at, in.Image, intent.CoreDNSImage)
		return
	}
	parsed := a.image(r, at, in.Image, intent.SignpostDNSImage)
	if slices.ContainsFunc(stockCoreDNS(a.rules.ImageRegistry), parsed.under) {
		r.refusef(at, "%s is stock CoreDNS, which has no plugin for autopath of mode %s; leave it out, give one that holds signpost-dns, or give mode %s", quote(in.Image), intent.AutopathEDNS0, intent.AutopathStatic)
	}
}

// hasLabels tells whether labels hold all that are wanted.
func hasLabels(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// dnsNamespace checks where the DNS pods go. Neither default nor what belongs
// to others; signpost-dns belongs to nobody.
func (a *Admitter) dnsNamespace(ctx context.Context, r *review, namespace string) error {
	const at = spec + "/namespace"
	if namespace == "default" {
		r.refusef(at, "%s is everybody's; choose another, or leave it out for %s", quote(namespace), intent.DefaultDNSNamespace)
		return nil
	}
	return a.tenantNamespace(ctx, r, at, namespace)
}

// word checks one of a few known words, in any letter case; empty is the
// default.
func (r *review) word(at pointer, text, noun string, known ...string) {
	same := func(word string) bool { return strings.EqualFold(word, text) }
	if text == "" || slices.ContainsFunc(known, same) {
		return
	}
	last := len(known) - 1
	choice := known[last]
	if last > 0 {
		choice = strings.Join(known[:last], ", ") + " or " + choice
	}
	r.refusef(at, "%s is no %s; give %s", quote(text), noun, choice)
}

// dnsCache checks how long answers are kept.
func (r *review) dnsCache(in *intent.DNSCache) {
	const at = spec + "/cache"
	if in == nil {
		return
	}
	r.seconds(at.key("positiveTTL"), &in.PositiveTTL)
	r.seconds(at.key("negativeTTL"), &in.NegativeTTL)
}

// seconds checks a duration, and leaves out what is no whole second, as OpenShift does;
// zero is the default.
func (r *review) seconds(at pointer, text *string) {
	const most = (1<<31 - 1) * time.Second // a TTL of DNS
	if *text == "" {
		return
	}
	duration, err := time.ParseDuration(*text)
	switch {
	case err != nil:
		r.refusef(at, "%s is no duration; give one such as 30s or 1h30m", quote(*text))
	case duration < 0 || duration > most:
		r.refusef(at, "%s is out of range; give 1s to %s, or leave it out for the default", quote(*text), most)
	case duration%time.Second != 0:
		*text = duration.Truncate(time.Second).String()
	}
}

// nodeResolver checks the names of the Services that nodes know.
func (r *review) nodeResolver(in *intent.NodeResolver) {
	const at = spec + "/nodeResolver/services"
	if in == nil {
		return
	}
	if len(in.Services) == 0 {
		r.refusef(at, "is empty; give at least one Service as namespace/name, or leave nodeResolver out")
	}
	if len(in.Services) > mostServices {
		r.refusef(at, "has %d; give at most %d, and the others in an intent of another logical cloud", len(in.Services), mostServices)
		return
	}
	for i, service := range in.Services {
		namespace, name, _ := strings.Cut(service, "/")
		switch {
		case !isDNSLabel(namespace) || !isDNSLabel(name):
			r.refusef(at.index(i), "%s is no Service; give its namespace and name, as in image-registry/image-registry", quote(service))
		case slices.Contains(in.Services[:i], service):
			r.refusef(at.index(i), "%s is given twice; leave one out", quote(service))
		}
	}
}

// dnsMode checks whose CoreDNS it is, and what only one of our own can have.
func (r *review) dnsMode(in *intent.DNSCRIntent) {
	const at = spec + "/mode"
	if in.Mode != "" && in.Mode != intent.Dedicated && in.Mode != intent.Import {
		r.refusef(at, "%s is no mode; give %s or %s", quote(string(in.Mode)), intent.Dedicated, intent.Import)
	}
	if in.Mode != intent.Import {
		return
	}
	if in.Autopath != nil {
		r.refusef(spec+"/autopath", "is not supported with mode import: the CoreDNS that is there is somebody else's; leave it out, or choose mode dedicated")
	}
	if in.NodeLocalDNS != nil && in.NodeLocalDNS.Enabled {
		r.refusef(spec+"/nodeLocalDNS", "is not supported with mode import: no DNS service of ours is there for it to ask; leave it out, or choose mode dedicated")
	}
	for i, server := range in.Servers {
		r.systemCertificates((spec + "/servers").index(i).key("forwardPlugin"), server.ForwardPlugin.TransportConfig)
	}
	if in.UpstreamResolvers != nil {
		r.systemCertificates(spec+"/upstreamResolvers", in.UpstreamResolvers.TransportConfig)
	}
}

// systemCertificates refuses certificates for a CoreDNS that is somebody
// else's.
func (r *review) systemCertificates(at pointer, in *intent.TransportConfig) {
	if in != nil && in.TLS != nil && in.TLS.CABundle != nil {
		r.refusef(at.key("transportConfig").key("tls").key("caBundle"),
			"is not supported with mode import: the CoreDNS that is there has no such file; leave it out for its system's certificates")
	}
}

// showDNSCRIntent adds the warnings.
func showDNSCRIntent(in *intent.DNSCRIntent) *Status {
	return &Status{Warnings: dnsCRWarnings(*in)}
}
