package admit

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// dnsIntent admits a DNS intent.
func (a *Admitter) dnsIntent(ctx context.Context, r *review, in, _ *intent.DNSIntent) error {
	app, err := a.knownApp(ctx, r, in.App)
	if err != nil {
		return err
	}
	if !isDNSLabel(in.ServiceName) {
		r.refusef(spec+"/serviceName", "%s is no name of a Service; use at most 63 lower-case letters, digits and '-'", quote(in.ServiceName))
	}
	if err := a.tenantNamespace(ctx, r, spec+"/namespace", in.Namespace); err != nil {
		return err
	}
	hosts, err := a.hostnames(ctx, r, in, app)
	if err != nil {
		return err
	}
	switch in.Scope {
	case "", intent.Public, intent.ClusterScope:
	default:
		r.refusef(spec+"/scope", "%s is no scope; give public or cluster, or leave it out for both", quote(string(in.Scope)))
	}
	if in.TTL < 0 || in.TTL > math.MaxInt32 {
		r.refusef(spec+"/ttl", "%d is no TTL; give 1 to %d seconds, or leave it out for the provider's default", in.TTL, math.MaxInt32)
	}
	r.recordTypes(in.RecordTypes)
	r.services(in, hosts)
	if err := a.routing(ctx, r, in.Routing); err != nil {
		return err
	}
	r.health(in.Health)
	return a.intentRecords(ctx, r, in, hosts)
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

func (r *review) recordTypes(types []string) {
	at := spec + "/recordTypes"
	for i, name := range types {
		switch {
		case name != "A" && name != "AAAA" && name != "CNAME" && name != "SRV":
			r.refusef(at.index(i), "%s is no type that an intent may have; give A, AAAA, CNAME or SRV", quote(name))
		case slices.Contains(types[:i], name):
			r.refusef(at.index(i), "%s is given twice; leave one out", name)
		}
	}
}

// services checks that each name can have SRV records, if they are asked for.
func (r *review) services(in *intent.DNSIntent, hosts []host) {
	if !slices.Contains(in.RecordTypes, "SRV") {
		return
	}
	const longestPort = len("_") + 15 + len("._sctp.") // before the name
	for _, host := range hosts {
		switch {
		case strings.HasPrefix(host.name, "*."):
			r.refusef(host.at, "%s is a wildcard, below which DNS looks up no SRV record; give the name in an intent of its own, without SRV", quote(host.name))
		case len(host.name)+longestPort > hostname.Longest:
			r.refusef(host.at, "%s leaves no room for the names of ports before it; give a shorter one, or leave SRV out", quote(host.name))
		}
	}
}

// intentRecords checks that the records that an intent names exist, cover its
// host names, and can do with them what the intent asks for.
func (a *Admitter) intentRecords(ctx context.Context, r *review, in *intent.DNSIntent, hosts []host) error {
	if len(in.Records) == 0 {
		return a.weighable(ctx, r, in, hosts)
	}
	at := spec + "/records"
	var able, unable []string // of weights
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
		if err := r.covered(ctx, in, hosts, name, externaldns.NewCoverage(record.Provider, record.Parameters)); err != nil {
			return err
		}
		if externaldns.AbilitiesOf(record.Provider, externaldns.DefaultVersion).SetIdentifiers {
			able = append(able, name)
		} else {
			unable = append(unable, name+" ("+record.Provider+")")
		}
	}
	r.weightedBy(in, able, unable)
	return nil
}

// weightedBy refuses weights where none of the records that serve an intent can have
// them, of those that are known.
func (r *review) weightedBy(in *intent.DNSIntent, able, unable []string) {
	if in.Routing != nil && in.Routing.Policy == intent.Weighted && len(able) == 0 && len(unable) > 0 {
		r.refusef(spec+"/routing/policy", "weighted needs a DNS provider with set identifiers, which no record of the intent has: %s; %s", strings.Join(unable, ", "), externaldns.WeightAdvice())
	}
}

// weighable refuses weights of an intent that names no records where none of those
// that its logical cloud is associated with, and that cover its names, can have them.
func (a *Admitter) weighable(ctx context.Context, r *review, in *intent.DNSIntent, hosts []host) error {
	if in.Routing == nil || in.Routing.Policy != intent.Weighted || in.Scope == intent.ClusterScope {
		return nil
	}
	group, err := find[intent.DeploymentIntentGroup](ctx, a.store, r.path.Parent().Parent())
	if err != nil || group == nil {
		return err
	}
	cloud := intent.Join("projects", r.project(), "logical-clouds", group.LogicalCloud)
	pairs, err := find[intent.KVPairs](ctx, a.store, cloud.Child("kv-pairs", intent.AssociationName))
	if err != nil || pairs == nil {
		return err
	}
	var able, unable []string
	for _, pair := range pairs.KV {
		for _, raw := range pair {
			name, ok := text(raw)
			if !ok || !isLabelValue(name) {
				continue
			}
			record, err := find[intent.Record](ctx, a.store, recordPath(r.project(), name))
			if err != nil {
				return err
			}
			if record == nil || !covers(*record, hosts) {
				continue
			}
			if externaldns.AbilitiesOf(record.Provider, externaldns.DefaultVersion).SetIdentifiers {
				able = append(able, name)
			} else {
				unable = append(unable, name+" ("+record.Provider+")")
			}
		}
	}
	slices.Sort(unable)
	r.weightedBy(in, able, unable)
	return nil
}

// covers tells whether a record serves one of some names.
func covers(record intent.Record, hosts []host) bool {
	coverage := externaldns.NewCoverage(record.Provider, record.Parameters)
	return slices.ContainsFunc(hosts, func(h host) bool { return coverage.Covers(h.name) })
}

// covered checks what a record's zones make of the host names that are right.
// There may be thousands, each matched with a regular expression: it ends with ctx.
func (r *review) covered(ctx context.Context, in *intent.DNSIntent, hosts []host, record string, coverage externaldns.Coverage) error {
	for _, host := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case !coverage.Covers(host.name):
			r.refusef(host.at, "%s is not covered by record %s; give a name within its domain-filter and zones, or leave the record out", quote(host.name), record)
		case slices.Equal(in.RecordTypes, []string{"CNAME"}) && coverage.Apex(host.name):
			r.refusef(host.at, "%s is the apex of a zone of record %s, where DNS allows no CNAME; allow A and AAAA in recordTypes, or give a name below it", quote(host.name), record)
		}
	}
	return nil
}
