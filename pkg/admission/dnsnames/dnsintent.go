// Package dnsnames judges DNS intents: the names of Services, and how they are routed.
package dnsnames

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/apps"
	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/providers"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckDNSIntent admits a DNS intent.
func CheckDNSIntent(ctx context.Context, a *review.Checker, r *review.Review, in, _ *intent.DNSIntent) error {
	app, err := apps.KnownApp(ctx, a, r, in.App)
	if err != nil {
		return err
	}
	if !review.IsDNSLabel(in.ServiceName) {
		r.Refusef(review.Spec+"/serviceName", "%s is not a name of a Service; use at most 63 lower-case letters, digits and '-'", review.Quote(in.ServiceName))
	}
	if err := projects.CheckTenantNamespace(ctx, a, r, review.Spec+"/namespace", in.Namespace); err != nil {
		return err
	}
	hosts, err := checkHostnames(ctx, a, r, in, app)
	if err != nil {
		return err
	}
	switch in.Scope {
	case "", intent.Public, intent.ClusterScope:
	default:
		r.Refusef(review.Spec+"/scope", "%s is not a scope; give public or cluster, or leave it out for both", review.Quote(string(in.Scope)))
	}
	if in.TTL < 0 || in.TTL > math.MaxInt32 {
		r.Refusef(review.Spec+"/ttl", "%d is not a TTL; give 1 to %d seconds, or leave it out for the provider's default", in.TTL, math.MaxInt32)
	}
	CheckRecordTypes(r, in.RecordTypes)
	checkServices(r, in, hosts)
	if err := CheckRouting(ctx, a, r, in.Routing, checkRoutedCluster); err != nil {
		return err
	}
	CheckHealth(r, in.Health, in.Scope, in.Hostnames...)
	return checkIntentRecords(ctx, a, r, in, hosts)
}

// CheckRecordTypes checks the types that a name may have.
func CheckRecordTypes(r *review.Review, types []string) {
	at := review.Spec + "/recordTypes"
	for i, name := range types {
		switch {
		case name != "A" && name != "AAAA" && name != "CNAME" && name != "SRV":
			r.Refusef(at.Index(i), "%s is not a type that an intent may have; give A, AAAA, CNAME or SRV", review.Quote(name))
		case slices.Contains(types[:i], name):
			r.Refusef(at.Index(i), "%s is given twice; leave one out", name)
		}
	}
}

// checkServices checks that each name can have SRV records, if they are asked for.
func checkServices(r *review.Review, in *intent.DNSIntent, hosts []host) {
	if !slices.Contains(in.RecordTypes, "SRV") {
		return
	}
	const longestPort = len("_") + 15 + len("._sctp.") // before the name
	for _, host := range hosts {
		switch {
		case strings.HasPrefix(host.name, "*."):
			r.Refusef(host.at, "%s is a wildcard, and DNS looks up no SRV record below a wildcard; give the name in an intent of its own, without SRV", review.Quote(host.name))
		case len(host.name)+longestPort > hostname.Longest:
			r.Refusef(host.at, "%s leaves no space for the names of ports before it; give a shorter name, or remove SRV", review.Quote(host.name))
		}
	}
}

// checkIntentRecords checks that the records that an intent names exist, cover its
// host names, and can do with them what the intent asks for.
func checkIntentRecords(ctx context.Context, a *review.Checker, r *review.Review, in *intent.DNSIntent, hosts []host) error {
	if len(in.Records) == 0 {
		return checkDividable(ctx, a, r, in, hosts)
	}
	at := review.Spec + "/records"
	var able, unable []string // to have set identifiers
	for i, name := range in.Records {
		here := at.Index(i)
		if !review.IsLabelValue(name) {
			r.Refusef(here, "%s is not a name of a provider; %s", review.Quote(name), review.ValueAdvice)
			continue
		}
		if slices.Contains(in.Records[:i], name) {
			r.Refusef(here, "%s is given twice; leave one out", review.Quote(name))
			continue
		}
		path := providers.RecordPath(r.Project(), name)
		record, err := review.Find[intent.Record](ctx, a.Store, path)
		if err != nil {
			return err
		}
		r.Refer(path)
		if record == nil {
			a.Missing(r, here, path)
			continue
		}
		if err := checkCovered(ctx, r, in, hosts, name, externaldns.NewCoverage(record.Provider, record.Parameters)); err != nil {
			return err
		}
		if externaldns.AbilitiesOf(record.Provider, externaldns.DefaultVersion).SetIdentifiers {
			able = append(able, name)
		} else {
			unable = append(unable, name+" ("+record.Provider+")")
		}
	}
	checkDividedBy(r, in, able, unable)
	return nil
}

// checkDividedBy refuses a policy that needs set identifiers where none of the records
// that serve an intent has them, of those that are known.
func checkDividedBy(r *review.Review, in *intent.DNSIntent, able, unable []string) {
	if in.Routing != nil && in.Routing.Divides() && len(able) == 0 && len(unable) > 0 {
		r.Refusef(review.Spec+"/routing/policy", "%s needs a DNS provider with set identifiers, and no provider of the intent has them: %s; %s", in.Routing.Policy, strings.Join(unable, ", "), externaldns.SetsAdvice())
	}
}

// checkDividable is checkDividedBy for an intent that names no providers: the providers of its
// logical cloud that cover its names serve it.
func checkDividable(ctx context.Context, a *review.Checker, r *review.Review, in *intent.DNSIntent, hosts []host) error {
	if in.Routing == nil || !in.Routing.Divides() || in.Scope == intent.ClusterScope {
		return nil
	}
	group, err := review.Find[intent.DeploymentIntentGroup](ctx, a.Store, r.Path.Parent().Parent())
	if err != nil || group == nil {
		return err
	}
	associated, err := providers.OfCloud(ctx, a, intent.Join("projects", r.Project(), "logical-clouds", group.LogicalCloud))
	if err != nil {
		return err
	}
	var able, unable []string
	for name, record := range associated {
		switch {
		case !covers(record, hosts):
		case externaldns.AbilitiesOf(record.Provider, externaldns.DefaultVersion).SetIdentifiers:
			able = append(able, name)
		default:
			unable = append(unable, name+" ("+record.Provider+")")
		}
	}
	slices.Sort(unable)
	checkDividedBy(r, in, able, unable)
	return nil
}

// covers tells whether a record serves one of some names.
func covers(record intent.Record, hosts []host) bool {
	coverage := externaldns.NewCoverage(record.Provider, record.Parameters)
	return slices.ContainsFunc(hosts, func(h host) bool { return coverage.Covers(h.name) })
}

// checkCovered checks what a record's zones make of the host names that are right.
// There may be thousands, each matched with a regular expression: it ends with ctx.
func checkCovered(ctx context.Context, r *review.Review, in *intent.DNSIntent, hosts []host, record string, coverage externaldns.Coverage) error {
	for _, host := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case !coverage.Covers(host.name):
			r.Refusef(host.at, "provider %[2]s does not cover %[1]s; give a name within its domain-filter and zones, or remove the provider from the intent", review.Quote(host.name), record)
		case slices.Equal(in.RecordTypes, []string{"CNAME"}) && coverage.Apex(host.name):
			r.Refusef(host.at, "%s is the apex of a zone of provider %s, where DNS allows no CNAME; allow A and AAAA in recordTypes, or give a name below it", review.Quote(host.name), record)
		}
	}
	return nil
}
