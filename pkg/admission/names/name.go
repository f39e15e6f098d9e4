// Package names judges names: host names that are published by one document each.
package names

import (
	"context"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/dnsnames"
	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/providers"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// CheckHost checks that the name in a body is a canonical host name, and that of the
// path.
func CheckHost(r *review.Review, name string) {
	const at review.Pointer = "/metadata/name"
	canonical, err := hostname.CanonicalUnderscored(name)
	switch {
	case err != nil:
		r.Refusef(at, "%s %s", review.Quote(name), err)
	case canonical != name:
		r.Refusef(at, "%s is not canonical; write %s", review.Quote(name), review.Quote(canonical))
	case name != r.Path.Name():
		r.Refusef(at, "is %s, but the path names %s", review.Quote(name), review.Quote(r.Path.Name()))
	}
}

// CheckName admits a name, and completes its provider.
func CheckName(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Name) error {
	checkTarget(r, in)
	checkRecords(r, in)
	for _, check := range []func(context.Context, *review.Checker, *review.Review, *intent.Name) error{checkService, checkClusters} {
		if err := check(ctx, a, r, in); err != nil {
			return err
		}
	}
	switch in.Scope {
	case "", intent.Public:
	case intent.ClusterScope:
		if in.Clusters == nil {
			r.Refusef(review.Spec+"/scope", "cluster needs to know the clusters; give clusters, or scope public")
		}
	default:
		r.Refusef(review.Spec+"/scope", "%s is not a scope; give public or cluster", review.Quote(string(in.Scope)))
	}
	if in.TTL < 0 || in.TTL > math.MaxInt32 {
		r.Refusef(review.Spec+"/ttl", "%d is not a TTL; give 1 to %d seconds, or leave it out for the DNS provider's default", in.TTL, math.MaxInt32)
	}
	dnsnames.CheckRecordTypes(r, in.RecordTypes)
	if err := checkRouting(ctx, a, r, in); err != nil {
		return err
	}
	dnsnames.CheckHealth(r, in.Health, in.Scope, r.Path.Name())
	if in.CNAME != "" && in.Health != nil && in.Health.Probe != nil {
		r.Refusef(review.Spec+"/health/probe", "a name with cname has no addresses to probe; leave probe out")
	}
	return checkProvider(ctx, a, r, in, old)
}

// checkTarget checks that exactly one field says what the name leads to.
func checkTarget(r *review.Review, in *intent.Name) {
	given := 0
	for _, some := range []bool{in.Service != "", len(in.Addresses) > 0, in.CNAME != ""} {
		if some {
			given++
		}
	}
	switch {
	case given > 1:
		r.Refusef(review.Spec, "gives more than one of service, addresses and cname; give one of them")
	case given == 0 && len(in.Records) == 0:
		r.Refusef(review.Spec, "does not say what the name leads to; give service, addresses, cname or records")
	}
	if hostname.HasUnderscore(r.Path.Name()) && (in.Service != "" || len(in.Addresses) > 0) {
		r.Refusef(review.Spec, "gives addresses to %s, and no host has a name with an underscore; give records or cname, or another name", r.Path.Name())
	}
	for n, text := range in.Addresses {
		at := (review.Spec + "/addresses").Index(n)
		ip, err := netip.ParseAddr(text)
		switch {
		case err != nil || ip.Zone() != "":
			r.Refusef(at, "%s is not an IP address; give one as in 192.0.2.7 or 2001:db8::7, or give a host name as cname", review.Quote(text))
		case slices.Contains(in.Addresses[:n], ip.Unmap().String()):
			r.Refusef(at, "%s is given twice; leave one out", text)
		default:
			in.Addresses[n] = ip.Unmap().String()
		}
	}
	if in.CNAME == "" {
		return
	}
	canonical, err := hostname.CanonicalUnderscored(in.CNAME)
	switch {
	case err != nil:
		r.Refusef(review.Spec+"/cname", "%s %s", review.Quote(in.CNAME), err)
	case strings.HasPrefix(canonical, "*."):
		r.Refusef(review.Spec+"/cname", "%s is a wildcard, and no host to lead to; give one host name", review.Quote(in.CNAME))
	case canonical == r.Path.Name():
		r.Refusef(review.Spec+"/cname", "leads to the name itself; give another host name")
	default:
		in.CNAME = canonical
	}
}

// checkService checks the Service, and that it is said where it runs.
func checkService(ctx context.Context, a *review.Checker, r *review.Review, in *intent.Name) error {
	const at = review.Spec + "/service"
	if in.Service == "" {
		if in.Clusters != nil {
			r.Refusef(review.Spec+"/clusters", "has no effect without service; leave it out")
		}
		return nil
	}
	namespace, service, both := strings.Cut(in.Service, "/")
	if !both || !review.IsDNSLabel(namespace) || !review.IsDNSLabel(service) {
		r.Refusef(at, "%s is not a Service; give its namespace and name, as in web/frontend", review.Quote(in.Service))
		return nil
	}
	if in.Clusters == nil || in.Clusters.Selector == nil && len(in.Clusters.Names) == 0 {
		r.Refusef(review.Spec+"/clusters", `is missing; give the clusters in which the Service is, as in ["dc/one"], or {"selector":{"region":"eu"}}`)
	}
	return projects.CheckTenantNamespace(ctx, a, r, at, namespace)
}

// checkClusters checks that the clusters exist, or that the selector is one.
func checkClusters(ctx context.Context, a *review.Checker, r *review.Review, in *intent.Name) error {
	const at = review.Spec + "/clusters"
	if in.Clusters == nil {
		return nil
	}
	if in.Clusters.Selector != nil {
		if len(in.Clusters.Selector) == 0 {
			r.Refusef(at+"/selector", "is empty; give at least one label, or list the clusters")
		}
		review.CheckLabels(r, at+"/selector", in.Clusters.Selector)
		return nil
	}
	for n, name := range in.Clusters.Names {
		if slices.Contains(in.Clusters.Names[:n], name) {
			r.Refusef(at.Index(n), "%s is given twice; leave one out", review.Quote(name))
		} else if err := checkCluster(ctx, a, r, at.Index(n), name); err != nil {
			return err
		}
	}
	return nil
}

// checkCluster checks one cluster, "provider/cluster".
func checkCluster(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, name string) error {
	ref, right := review.ParseCluster(r, at, name)
	if !right {
		return nil
	}
	path := ref.Path()
	found, err := review.Find[intent.Cluster](ctx, a.Store, path)
	switch {
	case err != nil:
		return err
	case found == nil:
		a.Missing(r, at, path)
	case len(found.Projects) > 0 && !slices.Contains(found.Projects, r.Project()):
		r.Conflictf(at, "%s does not allow project %q; have an administrator add it to the cluster's projects, or choose another cluster", name, r.Project())
	}
	return nil
}

// checkRouting checks how answers are chosen among clusters, which it names as the rest
// of the document does: "provider/cluster".
func checkRouting(ctx context.Context, a *review.Checker, r *review.Review, in *intent.Name) error {
	if in.Routing == nil {
		return nil
	}
	if in.Service == "" {
		r.Refusef(review.Spec+"/routing", "is for a service in several clusters; leave it out")
		return nil
	}
	return dnsnames.CheckRouting(ctx, a, r, in.Routing, checkCluster)
}

// checkProvider checks the provider, or completes it if exactly one serves the name.
func checkProvider(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Name) error {
	const at = review.Spec + "/provider"
	host := r.Path.Name()
	if in.Provider == "" {
		return completeProvider(ctx, a, r, in, old)
	}
	if !review.IsLabelValue(in.Provider) {
		r.Refusef(at, "%s is not a name of a provider; %s", review.Quote(in.Provider), review.ValueAdvice)
		return nil
	}
	path := providers.RecordPath(r.Project(), in.Provider)
	provider, err := review.Find[intent.Record](ctx, a.Store, path)
	switch {
	case err != nil:
		return err
	case provider == nil:
		a.Missing(r, at, path)
	case !externaldns.NewCoverage(provider.Provider, provider.Parameters).Covers(host):
		r.Refusef(at, "provider %q does not serve %s%s; give a name within its domain-filter and zones, or another provider", in.Provider, host,
			nearestDomain(host, externaldns.Values(provider.Parameters, "domain-filter")))
	}
	return nil
}

// nearestDomain says which domain somebody most likely meant who gave a host name in none of them; empty if none is like it.
func nearestDomain(host string, domains []string) string {
	labels := strings.Split(host, ".")
	for first := 1; first < len(labels); first++ {
		alike := slices.DeleteFunc(slices.Clone(domains), func(domain string) bool { return strings.Count(domain, ".") != len(labels)-first-1 })
		if domain := nearest.Name(strings.Join(labels[first:], "."), alike); domain != "" {
			return "; the nearest domain is " + domain
		}
	}
	return ""
}

// completeProvider takes the only provider of the project that serves the name; of
// several the one that the name has already.
func completeProvider(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Name) error {
	const at = review.Spec + "/provider"
	var serving, others, domains []string
	err := a.Each(ctx, "projects/"+r.Project()+"/dns-update-records", func(doc intent.Document) error {
		provider, err := intent.Of[intent.Record](doc)
		if err != nil {
			return err
		}
		if externaldns.NewCoverage(provider.Spec.Provider, provider.Spec.Parameters).Covers(r.Path.Name()) {
			serving = append(serving, doc.Path.Name())
		} else {
			others, domains = append(others, doc.Path.Name()), append(domains, externaldns.Values(provider.Spec.Parameters, "domain-filter")...)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(serving) == 1:
		in.Provider = serving[0]
	case old != nil && slices.Contains(serving, old.Provider):
		in.Provider = old.Provider
	case len(serving) > 1:
		r.Refusef(at, "is missing, and several providers serve %s: %s; name one of them", r.Path.Name(), strings.Join(serving, ", "))
	case len(others) == 0:
		r.Conflictf(at, "is missing, and project %q has no provider; create one first: POST /v2/projects/%s/dns-update-records", r.Project(), r.Project())
	default:
		r.Conflictf("/metadata/name", "no provider of project %q serves %s: the domain-filter and zones of %s do not cover it%s; give a name within them, or create a provider that covers it",
			r.Project(), r.Path.Name(), strings.Join(others, ", "), nearestDomain(r.Path.Name(), domains))
	}
	return nil
}
