// Package clusterdns judges DNS CR intents: the DNS servers of clusters.
package clusterdns

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/admission/apps"
	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckDNSCRIntent admits a DNS CR intent.
func CheckDNSCRIntent(ctx context.Context, a *review.Checker, r *review.Review, in, _ *intent.DNSCRIntent) error {
	clusters, err := clustersOfDNS(ctx, a, r, in)
	if err != nil {
		return err
	}
	if err := checkDNSNamespace(ctx, a, r, in.Namespace); err != nil {
		return err
	}
	zones := &zones{Review: r, domains: clusters.domains, own: clusters.addresses, toNodes: in.NodeResolver != nil && in.Mode != intent.Import, walked: in.Autopath != nil, first: map[string]review.Pointer{}}
	zones.plugins(in.PluginConfig)
	zones.servers(in.Servers)
	checkUpstreamResolvers(r, in.UpstreamResolvers)
	checkDNSCache(r, in.Cache)
	checkWord(r, review.Spec+"/logLevel", in.LogLevel, "log level", "Normal", "Debug", "Trace")
	checkWord(r, review.Spec+"/operatorLogLevel", in.OperatorLogLevel, "log level", "Normal", "Debug", "Trace")
	checkNodePlacement(r, in.NodePlacement)
	checkNodeResolver(r, in.NodeResolver)
	checkNodeLocalDNS(r, in, clusters.addresses)
	checkAutopath(r, in.Autopath, clusters.domains)
	checkDNSMode(r, in)
	if in.Image != "" {
		checkDNSImage(a, r, in)
	}
	if in.ManagementState != "" && in.ManagementState != "Managed" {
		r.Refusef(review.Spec+"/managementState", "%s is not supported, because Signpost manages all that it deploys; give Managed, or remove it", review.Quote(in.ManagementState))
	}
	return nil
}

// dnsClusters are the clusters that an intent is for.
type dnsClusters struct {
	domains   []clusterDomain       // the default one first
	addresses map[netip.Addr]string // of their own DNS services, and which cluster has each
}

// clustersOfDNS checks which clusters the intent is for.
func clustersOfDNS(ctx context.Context, a *review.Checker, r *review.Review, in *intent.DNSCRIntent) (*dnsClusters, error) {
	cloud := r.Path.Parent()
	references, err := review.ClusterReferences(ctx, a, cloud)
	if err != nil {
		return nil, err
	}
	review.CheckLabels(r, review.Spec+"/clusterLabels", in.ClusterLabels)
	if err := apps.AppClusters(ctx, a, r, review.Spec+"/clusters", in.Clusters, cloud, references); err != nil {
		return nil, err
	}
	out := &dnsClusters{
		domains:   []clusterDomain{{name: intent.DefaultClusterDomain, whose: "a cluster's own domain unless it has another"}},
		addresses: map[netip.Addr]string{},
	}
	err = EachCluster(ctx, a, references, in.Clusters, in.ClusterLabels, func(name string, cluster intent.Cluster) {
		if cluster.DNS != nil {
			out.add(name, *cluster.DNS)
		}
	})
	slices.SortFunc(out.domains[1:], func(a, b clusterDomain) int { return strings.Compare(a.whose, b.whose) })
	return out, err
}

// EachCluster visits the clusters of references that have the labels, in any order. If
// clusters are named, it visits these only.
func EachCluster(ctx context.Context, a *review.Checker, references map[intent.ClusterRef]intent.Path,
	named []intent.ClusterRef, labels map[string]string, visit func(name string, cluster intent.Cluster),
) error {
	for ref := range references {
		if len(named) > 0 && !slices.Contains(named, ref) {
			continue
		}
		cluster, err := review.Find[intent.Cluster](ctx, a.Store, ref.Path())
		if err != nil {
			return err
		}
		if cluster != nil && intent.HasLabels(cluster.Labels, labels) {
			visit(ref.String(), *cluster)
		}
	}
	return nil
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

// checkDNSImage checks what the DNS pods run. Stock CoreDNS starts with no Corefile
// that names a plugin of ours.
func checkDNSImage(a *review.Checker, r *review.Review, in *intent.DNSCRIntent) {
	const at = review.Spec + "/image"
	if in.Autopath == nil || in.Autopath.Static() {
		review.ReadImage(a, r, at, in.Image, intent.CoreDNSImage)
		return
	}
	parsed := review.ReadImage(a, r, at, in.Image, intent.SignpostDNSImage)
	if slices.ContainsFunc(review.StockCoreDNS(a.Rules.ImageRegistry), parsed.Under) {
		r.Refusef(at, "%s is stock CoreDNS, which has no plugin for autopath of mode %s; remove it, give an image with signpost-dns, or use mode %s", review.Quote(in.Image), intent.AutopathEDNS0, intent.AutopathStatic)
	}
}

// checkDNSNamespace checks where the DNS pods go. Neither default nor what belongs
// to others; signpost-dns belongs to nobody.
func checkDNSNamespace(ctx context.Context, a *review.Checker, r *review.Review, namespace string) error {
	const at = review.Spec + "/namespace"
	if namespace == "default" {
		r.Refusef(at, "%s is a shared namespace; choose another, or remove the field for %s", review.Quote(namespace), intent.DefaultDNSNamespace)
		return nil
	}
	return projects.CheckTenantNamespace(ctx, a, r, at, namespace)
}

// checkWord checks one of a few known words, in any letter case; empty is the
// default.
func checkWord(r *review.Review, at review.Pointer, text, noun string, known ...string) {
	same := func(word string) bool { return strings.EqualFold(word, text) }
	if text == "" || slices.ContainsFunc(known, same) {
		return
	}
	last := len(known) - 1
	choice := known[last]
	if last > 0 {
		choice = strings.Join(known[:last], ", ") + " or " + choice
	}
	r.Refusef(at, "%s is not a valid %s; give %s", review.Quote(text), noun, choice)
}

// checkDNSCache checks how long answers are kept.
func checkDNSCache(r *review.Review, in *intent.DNSCache) {
	const at = review.Spec + "/cache"
	if in == nil {
		return
	}
	checkSeconds(r, at.Key("positiveTTL"), &in.PositiveTTL)
	checkSeconds(r, at.Key("negativeTTL"), &in.NegativeTTL)
}

// checkSeconds checks a duration, and leaves out what is no whole second, as OpenShift does;
// zero is the default.
func checkSeconds(r *review.Review, at review.Pointer, text *string) {
	const most = (1<<31 - 1) * time.Second // a TTL of DNS
	if *text == "" {
		return
	}
	duration, err := time.ParseDuration(*text)
	switch {
	case err != nil:
		r.Refusef(at, "%s is not a duration; give one such as 30s or 1h30m", review.Quote(*text))
	case duration < 0 || duration > most:
		r.Refusef(at, "%s is out of range; give 1s to %s, or leave it out for the default", review.Quote(*text), most)
	case duration%time.Second != 0:
		*text = duration.Truncate(time.Second).String()
	}
}

// checkNodeResolver checks the names of the Services that nodes know.
func checkNodeResolver(r *review.Review, in *intent.NodeResolver) {
	const at = review.Spec + "/nodeResolver/services"
	if in == nil {
		return
	}
	if len(in.Services) == 0 {
		r.Refusef(at, "is empty; give at least one Service as namespace/name, or leave nodeResolver out")
	}
	if len(in.Services) > mostServices {
		r.Refusef(at, "has %d; give at most %d, and the others in an intent of another logical cloud", len(in.Services), mostServices)
		return
	}
	for i, service := range in.Services {
		namespace, name, _ := strings.Cut(service, "/")
		switch {
		case !review.IsDNSLabel(namespace) || !review.IsDNSLabel(name):
			r.Refusef(at.Index(i), "%s is not a Service; give its namespace and name, as in image-registry/image-registry", review.Quote(service))
		case slices.Contains(in.Services[:i], service):
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(service))
		}
	}
}

// checkDNSMode checks whose CoreDNS it is, and what only one of our own can have.
func checkDNSMode(r *review.Review, in *intent.DNSCRIntent) {
	const at = review.Spec + "/mode"
	if in.Mode != "" && in.Mode != intent.Dedicated && in.Mode != intent.Import {
		r.Refusef(at, "%s is not a mode; give %s or %s", review.Quote(string(in.Mode)), intent.Dedicated, intent.Import)
	}
	if in.Mode != intent.Import {
		return
	}
	if in.Autopath != nil {
		r.Refusef(review.Spec+"/autopath", "is not supported with mode import, because Signpost does not manage that CoreDNS; remove it, or use mode dedicated")
	}
	if in.NodeLocalDNS != nil && in.NodeLocalDNS.Enabled {
		r.Refusef(review.Spec+"/nodeLocalDNS", "is not supported with mode import, because there is no DNS service of Signpost to ask; remove it, or use mode dedicated")
	}
	for i, server := range in.Servers {
		checkSystemCertificates(r, (review.Spec + "/servers").Index(i).Key("forwardPlugin"), server.ForwardPlugin.TransportConfig)
	}
	if in.UpstreamResolvers != nil {
		checkSystemCertificates(r, review.Spec+"/upstreamResolvers", in.UpstreamResolvers.TransportConfig)
	}
}

// checkSystemCertificates refuses certificates for a CoreDNS that is somebody
// else's.
func checkSystemCertificates(r *review.Review, at review.Pointer, in *intent.TransportConfig) {
	if in != nil && in.TLS != nil && in.TLS.CABundle != nil {
		r.Refusef(at.Key("transportConfig").Key("tls").Key("caBundle"),
			"is not supported with mode import, because that CoreDNS has no such file; remove it to use its system's certificates")
	}
}

// ShowDNSCRIntent adds the warnings.
func ShowDNSCRIntent(in *intent.DNSCRIntent) *review.Status {
	return &review.Status{Warnings: dnsCRWarnings(*in)}
}
