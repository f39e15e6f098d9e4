package admit

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// dnsCRIntent admits a DNS CR intent.
func (a *Admitter) dnsCRIntent(ctx context.Context, r *review, in, _ *intent.DNSCRIntent) error {
	domains, err := a.dnsClusters(ctx, r, in)
	if err != nil {
		return err
	}
	if err := a.dnsNamespace(ctx, r, in.Namespace); err != nil {
		return err
	}
	zones := &zones{review: r, domains: domains, toNodes: in.NodeResolver != nil && in.Mode != intent.Import, walked: in.Autopath != nil, first: map[string]pointer{}}
	zones.plugins(in.PluginConfig)
	zones.servers(in.Servers)
	r.upstreamResolvers(in.UpstreamResolvers)
	r.dnsCache(in.Cache)
	r.word(spec+"/logLevel", in.LogLevel, "log level", "Normal", "Debug", "Trace")
	r.word(spec+"/operatorLogLevel", in.OperatorLogLevel, "log level", "Normal", "Debug", "Trace")
	r.nodePlacement(in.NodePlacement)
	r.nodeResolver(in.NodeResolver)
	r.nodeLocalDNS(in)
	r.autopath(in.Autopath, domains)
	r.dnsMode(in)
	if in.Image != "" {
		a.image(r, spec+"/image", in.Image, "docker.io/coredns/coredns:1.15.0")
	}
	if in.ManagementState != "" && in.ManagementState != "Managed" {
		r.refusef(spec+"/managementState", "%s is not supported: what is deployed is managed; give Managed, or leave it out", quote(in.ManagementState))
	}
	return nil
}

// dnsClusters checks which clusters the intent is for, and answers their
// domains.
func (a *Admitter) dnsClusters(ctx context.Context, r *review, in *intent.DNSCRIntent) ([]clusterDomain, error) {
	cloud := r.path.Parent()
	references, err := a.references(ctx, cloud)
	if err != nil {
		return nil, err
	}
	r.labels(spec+"/clusterLabels", in.ClusterLabels)
	if err := a.appClusters(ctx, r, spec+"/clusters", in.Clusters, cloud, references); err != nil {
		return nil, err
	}
	domains := []clusterDomain{{name: intent.DefaultClusterDomain, whose: "a cluster's own domain unless it has another"}}
	for ref := range references {
		if len(in.Clusters) > 0 && !slices.Contains(in.Clusters, ref) {
			continue
		}
		cluster, err := find[intent.Cluster](ctx, a.store, ref.Path())
		if err != nil {
			return nil, err
		}
		if cluster != nil && cluster.DNS != nil && cluster.DNS.Domain != "" && hasLabels(cluster.Labels, in.ClusterLabels) {
			domains = append(domains, clusterDomain{name: cluster.DNS.Domain, whose: "the own domain of cluster " + ref.String()})
		}
	}
	slices.SortFunc(domains[1:], func(a, b clusterDomain) int { return strings.Compare(a.whose, b.whose) })
	return domains, nil
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
	r.seconds(at.key("positiveTTL"), in.PositiveTTL)
	r.seconds(at.key("negativeTTL"), in.NegativeTTL)
}

// seconds checks a duration of whole seconds; zero is the default.
func (r *review) seconds(at pointer, text string) {
	const most = (1<<31 - 1) * time.Second // a TTL of DNS
	if text == "" {
		return
	}
	duration, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.refusef(at, "%s is no duration; give one such as 30s or 1h30m", quote(text))
	case duration < 0 || duration > most:
		r.refusef(at, "%s is out of range; give 1s to %s, or leave it out for the default", quote(text), most)
	case duration%time.Second != 0:
		r.refusef(at, "%s is not of whole seconds; give one such as %s", quote(text), duration.Truncate(time.Second)+time.Second)
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
