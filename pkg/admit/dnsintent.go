package admit

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// dnsIntent admits a DNS intent.
func (a *Admitter) dnsIntent(ctx context.Context, r *review, in, _ *intent.DNSIntent) error {
	if _, err := a.knownApp(ctx, r, in.App); err != nil {
		return err
	}
	if !isDNSLabel(in.ServiceName) {
		r.refusef(spec+"/serviceName", "%s is no name of a Service; use at most 63 lower-case letters, digits and '-'", quote(in.ServiceName))
	}
	if err := a.tenantNamespace(ctx, r, spec+"/namespace", in.Namespace); err != nil {
		return err
	}
	right := r.hostnames(in.Hostnames)
	switch in.Scope {
	case "", intent.Public, intent.ClusterScope:
	default:
		r.refusef(spec+"/scope", "%s is no scope; give public or cluster, or leave it out for both", quote(string(in.Scope)))
	}
	if in.TTL < 0 || in.TTL > math.MaxInt32 {
		r.refusef(spec+"/ttl", "%d is no TTL; give 1 to %d seconds, or leave it out for the provider's default", in.TTL, math.MaxInt32)
	}
	r.recordTypes(in.RecordTypes)
	r.routing(in.Routing)
	r.health(in.Health)
	return a.intentRecords(ctx, r, in, right)
}

// knownApp answers the app, which must be one of the group's; nil when it is not.
func (a *Admitter) knownApp(ctx context.Context, r *review, app string) (*intent.App, error) {
	path := r.path.Parent().Parent()
	group, err := find[intent.DeploymentIntentGroup](ctx, a.store, path)
	switch {
	case err != nil:
		return nil, err
	case group == nil:
		return nil, intent.ErrNotFound(path)
	}
	names := make([]string, len(group.Apps))
	for i, known := range group.Apps {
		if names[i] = known.Name; known.Name == app {
			return &known, nil
		}
	}
	known := "which has none yet"
	if len(names) > 0 {
		known = "whose apps are: " + strings.Join(names, ", ")
	}
	r.refusef(spec+"/app", "%s is no app of %s, %s", quote(app), path, known)
	return nil, nil
}

// hostnames brings names into canonical form and tells which are right.
func (r *review) hostnames(names []string) []bool {
	at := spec + "/hostnames"
	if len(names) == 0 {
		r.refusef(at, "is empty; give at least one host name")
	}
	right := make([]bool, len(names))
	for i, text := range names {
		name, err := canonicalHostname(text)
		if err != nil {
			r.refusef(at.index(i), "%s %s", quote(text), err)
			continue
		}
		names[i], right[i] = name, true
		if first := slices.Index(names[:i], name); first >= 0 {
			r.refusef(at.index(i), "%s is the same name as %s; leave one out", quote(text), at.index(first))
		}
	}
	return right
}

func (r *review) recordTypes(types []string) {
	at := spec + "/recordTypes"
	for i, name := range types {
		switch {
		case name != "A" && name != "AAAA" && name != "CNAME":
			r.refusef(at.index(i), "%s is no type that an intent may have; give A, AAAA or CNAME", quote(name))
		case slices.Contains(types[:i], name):
			r.refusef(at.index(i), "%s is given twice; leave one out", name)
		}
	}
}

// routing allows what works: all addresses of all clusters.
func (r *review) routing(in *intent.Routing) {
	const at = spec + "/routing"
	switch {
	case in == nil:
	case in.Policy != "" && in.Policy != "multivalue":
		r.refusef(at+"/policy", "%s is not supported by this version; give multivalue, or leave it out", quote(in.Policy))
	case len(in.Order) > 0:
		r.refusef(at+"/order", "has no effect with policy multivalue, the only one that this version supports; leave it out")
	case len(in.Weights) > 0:
		r.refusef(at+"/weights", "has no effect with policy multivalue, the only one that this version supports; leave it out")
	}
}

// health allows what works: addresses count as long as they were not seen to
// be gone.
func (r *review) health(in *intent.Health) {
	const at = spec + "/health"
	if in == nil {
		return
	}
	if in.ReadyEndpoints != nil && *in.ReadyEndpoints {
		r.refusef(at+"/readyEndpoints", "true is not supported by this version; leave it out")
	}
	if in.UnreachableAfter != "" {
		r.refusef(at+"/unreachableAfter", "is not supported by this version, which keeps the addresses of an unreachable cluster; leave it out")
	}
	if in.WhenAllUnhealthy != "" && in.WhenAllUnhealthy != "keep" {
		r.refusef(at+"/whenAllUnhealthy", "%s is not supported by this version; give keep, or leave it out", quote(in.WhenAllUnhealthy))
	}
}

// intentRecords checks that the records that an intent names exist and cover
// its host names.
func (a *Admitter) intentRecords(ctx context.Context, r *review, in *intent.DNSIntent, right []bool) error {
	at := spec + "/records"
	for i, name := range in.Records {
		here := at.index(i)
		if !isLabelValue(name) {
			r.refusef(here, "%s is no name of a record; %s", quote(name), valueAdvice)
			continue
		}
		if slices.Contains(in.Records[:i], name) {
			r.refusef(here, "%s is given twice; leave one out", quote(name))
			continue
		}
		path := recordPath(r.project(), name)
		record, err := find[intent.Record](ctx, a.store, path)
		if err != nil {
			return err
		}
		r.refer(path)
		if record == nil {
			a.missing(r, here, path)
			continue
		}
		coverage := externaldns.NewCoverage(record.Provider, record.Parameters)
		for j, host := range in.Hostnames {
			if right[j] && !coverage.Covers(host) {
				r.refusef((spec + "/hostnames").index(j), "%s is not covered by record %s; give a name within its domain-filter and zones, or leave the record out", quote(host), name)
			}
		}
	}
	return nil
}
