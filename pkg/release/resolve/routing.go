package resolve

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
)

// checkRouting says what an intent's routing leaves open for the clusters that
// its app runs on.
func (d *Draft) checkRouting(i inputs.DNSIntent, app plan.App) {
	if i.Spec.Routing == nil {
		return
	}
	in := *i.Spec.Routing
	outside := func(pointer, cluster string) {
		if !slices.Contains(app.Clusters, cluster) {
			d.Fail(i.Path, "/spec/routing/"+pointer, "app %q does not run on %s, but on %s; name these clusters", app.Name, cluster, cmp.Or(strings.Join(app.Clusters, ", "), "no cluster"))
		}
	}
	for n, cluster := range in.Order {
		outside("order/"+strconv.Itoa(n), cluster)
	}
	every := in.Listed()
	for _, field := range slices.Sorted(maps.Keys(every)) {
		for _, cluster := range every[field] {
			outside(field+"/"+cluster, cluster)
		}
	}
	for _, field := range in.Unread() {
		d.Warn("%s: its routing/%s has no effect with policy %s", i.Path, field, cmp.Or(in.Policy, intent.Multivalue))
	}
	if in.Unanswered() {
		d.Warn("%s: its routing "+intent.UnansweredWarning, i.Path)
	}
	resolved, listed := routing(i.Spec.Routing, app.Clusters), every[in.Lists()]
	switch {
	case len(app.Clusters) < 2:
	case in.Policy == intent.Failover && len(in.Order) < len(app.Clusters):
		d.Warn("%s: clusters that its order does not list come last, by name: %s", i.Path, strings.Join(resolved.Order, ", "))
	case in.Policy == intent.Weighted && len(listed) < len(app.Clusters):
		d.Warn("%s: clusters that its weights do not list have weight 0 and get answers only while no other is healthy: %s", i.Path, strings.Join(unlisted(app.Clusters, listed), ", "))
	case in.Divides() && len(listed) < len(app.Clusters):
		d.Warn("%s: clusters that its %s do not list get answers only while no other is healthy: %s", i.Path, in.Lists(), strings.Join(unlisted(app.Clusters, listed), ", "))
	}
}

func unlisted(clusters, listed []string) []string {
	return slices.DeleteFunc(slices.Clone(clusters), func(cluster string) bool { return slices.Contains(listed, cluster) })
}

// only are the entries of some clusters.
func only[T any](clusters []string, all map[string]T) map[string]T {
	out := map[string]T{}
	for _, cluster := range clusters {
		if value, some := all[cluster]; some {
			out[cluster] = value
		}
	}
	return out
}

// routing is an intent's, resolved for clusters: an order names all of them, and
// so do weights. Regions and locations name none but them. That of multivalue is zero.
func routing(in *intent.Routing, clusters []string) intent.Routing {
	switch {
	case in == nil:
	case in.Policy == intent.Failover:
		order := slices.DeleteFunc(slices.Clone(in.Order), func(name string) bool { return !slices.Contains(clusters, name) })
		rest := slices.DeleteFunc(slices.Clone(clusters), func(name string) bool { return slices.Contains(order, name) })
		return intent.Routing{Policy: intent.Failover, Order: append(order, rest...)}
	case in.Policy == intent.Weighted:
		weights := map[string]int64{}
		for _, cluster := range clusters {
			weights[cluster] = in.Weights[cluster]
		}
		return intent.Routing{Policy: intent.Weighted, Weights: weights}
	case in.Policy == intent.Latency:
		return intent.Routing{Policy: intent.Latency, Regions: only(clusters, in.Regions)}
	case in.Policy == intent.Geo:
		return intent.Routing{Policy: intent.Geo, Locations: only(clusters, in.Locations)}
	}
	return intent.Routing{}
}

// unreachableAfter is how long a cluster is not reached before it is taken out,
// where the intent does not say.
const unreachableAfter = "5m"

// health is an intent's, with its defaults. No probe reaches addresses inside a cluster.
func health(in *intent.Health, scope intent.Scope) *intent.Health {
	ready := true
	out := intent.Health{ReadyEndpoints: &ready, UnreachableAfter: unreachableAfter, WhenAllUnhealthy: intent.Keep}
	if in != nil {
		out.ReadyEndpoints = cmp.Or(in.ReadyEndpoints, &ready)
		out.UnreachableAfter = cmp.Or(in.UnreachableAfter, out.UnreachableAfter)
		out.WhenAllUnhealthy = cmp.Or(in.WhenAllUnhealthy, out.WhenAllUnhealthy)
		if scope == intent.Public {
			out.Probe = in.Probe
		}
	}
	return &out
}

// AliasAlone tells whether CNAME is the only type that a name may have.
func AliasAlone(types []string) bool { return slices.Equal(types, []string{"CNAME"}) }

// checkAbilities refuses what a record's external-dns cannot publish of a host,
// and warns of what it does not do well.
func (d *Draft) checkAbilities(i inputs.DNSIntent, pointer string, p Publishing, host plan.Host) {
	for _, l := range p.lacks(host) {
		if l.intent == "" {
			d.Fail(p.path, l.record, "%s", l.why)
		} else {
			d.Fail(i.Path, l.intent, "%s", l.why)
		}
	}
	apex := p.Coverage.Apex(host.Name)
	if apex && AliasAlone(host.Types) {
		d.Fail(i.Path, pointer, "%q is the apex of a zone of provider %q, where DNS allows no CNAME; allow A and AAAA in recordTypes, or give a name below it", host.Name, p.path.Name())
	}
	if apex && !p.marksApex {
		d.Warn("%s is the apex of a zone of provider %q; the TXT record that marks it would stand beside the zone, such as a-%s, which DNS servers refuse; set txt-prefix to one that ends in a dot, as in %%{record_type}-owner.", host.Name, p.path.Name(), host.Name)
	}
	if strings.HasPrefix(host.Name, "*.") && !p.Abilities.Wildcards {
		d.Warn("%s of provider %q is a wildcard, which the DNS server behind %s does not answer; give the names themselves", host.Name, p.path.Name(), p.provider)
	}
	if slices.Equal(host.Types, []string{"SRV"}) {
		d.Warn("%s of provider %q has only SRV records, which lead to the name itself; without A, AAAA or CNAME in recordTypes it has no address, unless another intent gives one", host.Name, p.path.Name())
	}
}
