package resolve

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// bind ties one DNS intent to the records that serve its names. The logical cloud's
// records get the public addresses of all of the app's clusters, a cluster's records that
// cluster's addresses alone. Names may be many, and so may records: it ends with ctx.
func (d *Draft) bind(ctx context.Context, i inputs.DNSIntent) error {
	at := slices.IndexFunc(d.Group.Apps, func(a plan.App) bool { return a.Name == i.Spec.App })
	if at < 0 {
		d.Fail(i.Path, "/spec/app", "the deployment intent group has no app %q", i.Spec.App)
		return nil
	}
	app := d.Group.Apps[at]
	i.Spec.Namespace = d.serviceNamespace(i, app)
	d.checkRouting(i, app)
	hosts, err := d.hostnames(ctx, i, app)
	if err != nil {
		return err
	}
	served := map[string]bool{}
	if i.Spec.Scope != intent.ClusterScope {
		for _, name := range d.In.CloudRecords {
			if err := d.bindRecord(ctx, i, app, hosts, name, plan.Binding{Scope: intent.Public, Sources: app.Clusters}, served); err != nil {
				return err
			}
		}
	}
	if i.Spec.Scope != intent.Public {
		for _, cluster := range app.Clusters {
			for _, value := range d.In.OwnRecords[cluster] {
				if err := d.bindOwnRecord(ctx, i, app, hosts, cluster, value, served); err != nil {
					return err
				}
			}
		}
	}
	return d.refuseUnserved(ctx, i, hosts, served)
}

// refuseUnserved refuses names that no record serves.
func (d *Draft) refuseUnserved(ctx context.Context, i inputs.DNSIntent, hosts []hostnameOf, served map[string]bool) error {
	reached := map[string]bool{} // places of names of which some is served
	for _, host := range hosts {
		reached[host.pointer] = reached[host.pointer] || served[host.name]
	}
	for _, host := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if covered, asked := served[host.name]; !covered && (asked || !reached[host.pointer]) {
			d.Fail(i.Path, host.pointer, "no provider serves %q: associate one whose domain-filter or zones cover it with logical cloud %q or with the app's clusters%s", host.name, d.Group.LogicalCloud, chosen(i.Spec))
		}
	}
	return nil
}

func chosen(i intent.DNSIntent) string {
	if len(i.Records) == 0 {
		return ""
	}
	return ", among the intent's providers " + strings.Join(i.Records, ", ")
}

// bindOwnRecord binds a value of a cluster's association.
func (d *Draft) bindOwnRecord(ctx context.Context, i inputs.DNSIntent, app plan.App, hosts []hostnameOf, cluster, value string, served map[string]bool) error {
	name, ours := d.In.RecordName(value)
	if !ours {
		return nil
	}
	if _, known := d.Records[name]; !known {
		d.Warn("cluster %s is associated with provider %q, which project %q does not have", cluster, name, d.Group.Project.Name)
		return nil
	}
	return d.bindRecord(ctx, i, app, hosts, name, plan.Binding{Scope: intent.ClusterScope, Cluster: cluster, Sources: []string{cluster}}, served)
}

// bindRecord adds the names that a record covers to its binding. The scope and the
// sources of the binding are given, and so is the cluster. For the public scope, the
// cluster is the record's home. It notes which names the record was asked for.
func (d *Draft) bindRecord(ctx context.Context, i inputs.DNSIntent, app plan.App, hosts []hostnameOf, name string, to plan.Binding, served map[string]bool) error {
	record, known := d.Records[name]
	if !known || len(i.Spec.Records) > 0 && !slices.Contains(i.Spec.Records, name) {
		return nil
	}
	if to.Scope == intent.ClusterScope && record.Frozen.Spec.DeployOn.BuiltIn() {
		d.Fail(record.Frozen.Path, "/spec/deployOn", "provider %q has the built-in publisher, which has public names only, but is associated with %s; end the association, or name a cluster in deployOn", name, to.Cluster)
		return nil
	}
	homeless := to.Cluster == "" && record.Frozen.Home == nil // which has been said
	if to.Cluster == "" && !homeless {
		to.Cluster = record.Frozen.Home.String()
	}
	to.App, to.Service, to.Namespace, to.Record = app.Name, i.Spec.ServiceName, i.Spec.Namespace, name
	publishing := PublishingOf(record.Frozen)
	for _, made := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if made.cluster != "" && !slices.Contains(to.Sources, made.cluster) {
			continue
		}
		covers := homeless || publishing.Coverage.Covers(made.name)
		served[made.name] = served[made.name] || covers
		if homeless || !covers {
			continue
		}
		host := hostOf(i.Spec, made, to, record.Frozen)
		d.checkAbilities(i, made.pointer, publishing, host)
		d.addHost(d.binding(to), i, made.pointer, host)
	}
	return nil
}

// hostOf is what an intent asks for a name of a provider. A cluster's own names have nothing to choose
// among.
func hostOf(spec intent.DNSIntent, made hostnameOf, to plan.Binding, by plan.Record) plan.Host {
	host := plan.Host{
		Name: made.name, TTL: ttlOf(spec, by.Spec.Parameters), Types: slices.Sorted(slices.Values(spec.RecordTypes)),
		Routing: routing(spec.Routing, to.Sources), Health: health(spec.Health, to.Scope),
	}
	if to.Scope == intent.ClusterScope || made.cluster != "" {
		host.Routing = intent.Routing{}
	}
	if to.Scope == intent.Public && made.cluster != "" {
		host.Sources = []string{made.cluster}
	}
	return host
}

// binding finds or adds the binding of an app service, record and scope.
func (d *Draft) binding(b plan.Binding) *plan.Binding {
	for n := range d.Group.Bindings {
		if compareBindings(d.Group.Bindings[n], b) == 0 {
			return &d.Group.Bindings[n]
		}
	}
	d.Group.Bindings = append(d.Group.Bindings, b)
	return &d.Group.Bindings[len(d.Group.Bindings)-1]
}

// addHost adds a name to a binding. Two intents may give the same name to the
// same service, as long as they agree.
func (d *Draft) addHost(b *plan.Binding, i inputs.DNSIntent, pointer string, host plan.Host) {
	for _, other := range b.Hosts {
		if other.Name != host.Name {
			continue
		}
		if !reflect.DeepEqual(other, host) {
			d.Fail(i.Path, pointer, "another intent publishes %q for service %q with another ttl, or other clusters, recordTypes, routing or health", host.Name, b.Service)
		}
		return
	}
	b.Hosts = append(b.Hosts, host)
	d.Places[PlaceKey{App: b.App, Service: b.Service, Host: host.Name}] = Place{i.Path, pointer}
}

// finishBindings brings the bindings into order, refuses names that two of
// them would fight over, and lists the providers in use. It ends with ctx.
func (d *Draft) finishBindings(ctx context.Context) error {
	slices.SortFunc(d.Group.Bindings, compareBindings)
	for n := range d.Group.Bindings {
		b := &d.Group.Bindings[n]
		b.View, b.Prefix = "", state.KeyPrefix(d.Records[b.Record].Frozen.Spec)
		if b.Scope == intent.Public {
			b.View = state.PrivateScopes(d.Records[b.Record].Frozen.Spec)
		}
		slices.SortFunc(b.Hosts, func(x, y plan.Host) int { return strings.Compare(x.Name, y.Name) })
		use := state.Use{Record: d.Records[b.Record].Frozen.Path, Scope: b.Scope, Cluster: b.Cluster}
		if !slices.Contains(d.Uses, use) {
			d.Uses = append(d.Uses, use)
		}
		for _, other := range d.Group.Bindings[:n] {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.checkShared(other, *b)
		}
	}
	slices.SortFunc(d.Uses, state.CompareUses)
	return nil
}

// checkShared refuses what two bindings cannot both have in one cluster: an object's
// name, or one name of one record from both scopes. Two external-dns would fight over it.
func (d *Draft) checkShared(a, b plan.Binding) {
	twin := a
	twin.Namespace = b.Namespace
	if compareBindings(twin, b) == 0 {
		d.Fail(d.In.Owner.Path, "/spec/apps", "service %q of app %q is named in two namespaces, %s and %s; use another app for one of them", b.Service, b.App, a.Namespace, b.Namespace)
	}
	if a.Record != b.Record || a.Cluster != b.Cluster || a.Scope == b.Scope {
		return
	}
	for _, host := range a.Hosts {
		if slices.ContainsFunc(b.Hosts, func(h plan.Host) bool { return h.Name == host.Name }) {
			d.Fail(d.Records[a.Record].Frozen.Path, "", "%q would be published on %s in both scopes of the provider, and its external-dns would keep changing it; set the intent's scope, or remove one association", host.Name, a.Cluster)
		}
	}
}

func compareBindings(a, b plan.Binding) int {
	return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Record, b.Record), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Cluster, b.Cluster))
}

// quickTTL is the longest TTL of a name that is to leave unhealthy clusters, unless its intent says otherwise.
const quickTTL = time.Minute

// ttlOf is the TTL of a name in seconds; 0: that of the DNS provider. Routing by failover, and health other than the
// default, are of use to clients only as soon as their resolvers ask anew.
func ttlOf(spec intent.DNSIntent, parameters externaldns.Parameters) int64 {
	moves := !reflect.DeepEqual(health(spec.Health, intent.Public), health(nil, intent.Public)) || spec.Routing != nil && spec.Routing.Policy == intent.Failover
	if spec.TTL == 0 && moves && externaldns.UsualTTL(parameters) > quickTTL {
		return int64(quickTTL.Seconds())
	}
	return spec.TTL
}
