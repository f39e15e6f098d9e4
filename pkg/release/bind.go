package release

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// bind ties one DNS intent to the records that serve its names: the logical
// cloud's records get the public addresses of all of the app's clusters, a
// cluster's records that cluster's addresses alone. Names may be many, and so may
// records: it ends with ctx.
func (d *draft) bind(ctx context.Context, i dnsIntent) error {
	at := slices.IndexFunc(d.group.Apps, func(a plan.App) bool { return a.Name == i.spec.App })
	if at < 0 {
		d.fail(i.path, "/spec/app", "the deployment intent group has no app %q", i.spec.App)
		return nil
	}
	app := d.group.Apps[at]
	i.spec.Namespace = d.serviceNamespace(i, app)
	d.checkRouting(i, app)
	hosts, err := d.hostnames(ctx, i, app)
	if err != nil {
		return err
	}
	served := map[string]bool{}
	if i.spec.Scope != intent.ClusterScope {
		for _, name := range d.in.cloudRecords {
			if err := d.bindRecord(ctx, i, app, hosts, name, plan.Binding{Scope: intent.Public, Sources: app.Clusters}, served); err != nil {
				return err
			}
		}
	}
	if i.spec.Scope != intent.Public {
		for _, cluster := range app.Clusters {
			for _, value := range d.in.ownRecords[cluster] {
				if err := d.bindOwnRecord(ctx, i, app, hosts, cluster, value, served); err != nil {
					return err
				}
			}
		}
	}
	return d.refuseUnserved(ctx, i, hosts, served)
}

// refuseUnserved refuses names that no record serves.
func (d *draft) refuseUnserved(ctx context.Context, i dnsIntent, hosts []hostnameOf, served map[string]bool) error {
	reached := map[string]bool{} // places of names of which some is served
	for _, host := range hosts {
		reached[host.pointer] = reached[host.pointer] || served[host.name]
	}
	for _, host := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if covered, asked := served[host.name]; !covered && (asked || !reached[host.pointer]) {
			d.fail(i.path, host.pointer, "no record serves %q: associate one whose domain-filter or zones cover it with logical cloud %q or with the app's clusters%s", host.name, d.group.LogicalCloud, chosen(i.spec))
		}
	}
	return nil
}

func chosen(i intent.DNSIntent) string {
	if len(i.Records) == 0 {
		return ""
	}
	return ", among the intent's records " + strings.Join(i.Records, ", ")
}

// bindOwnRecord binds a value of a cluster's association.
func (d *draft) bindOwnRecord(ctx context.Context, i dnsIntent, app plan.App, hosts []hostnameOf, cluster, value string, served map[string]bool) error {
	name, ours := d.in.recordName(value)
	if !ours {
		return nil
	}
	if _, known := d.records[name]; !known {
		d.warn("cluster %s is associated with record %q, which project %q does not have", cluster, name, d.group.Project.Name)
		return nil
	}
	return d.bindRecord(ctx, i, app, hosts, name, plan.Binding{Scope: intent.ClusterScope, Cluster: cluster, Sources: []string{cluster}}, served)
}

// bindRecord adds the names that a record covers to its binding, of which the
// scope, the sources and, but for the public scope, the cluster are given:
// there it is the record's home. It notes which names the record was asked for.
func (d *draft) bindRecord(ctx context.Context, i dnsIntent, app plan.App, hosts []hostnameOf, name string, to plan.Binding, served map[string]bool) error {
	record, known := d.records[name]
	if !known || len(i.spec.Records) > 0 && !slices.Contains(i.spec.Records, name) {
		return nil
	}
	homeless := to.Cluster == "" && record.frozen.Home == nil // which has been said
	if to.Cluster == "" && !homeless {
		to.Cluster = record.frozen.Home.String()
	}
	to.App, to.Service, to.Namespace, to.Record = app.Name, i.spec.ServiceName, i.spec.Namespace, name
	publishing := publishingOf(record.frozen)
	for _, made := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if made.cluster != "" && !slices.Contains(to.Sources, made.cluster) {
			continue
		}
		covers := homeless || publishing.coverage.Covers(made.name)
		served[made.name] = served[made.name] || covers
		if homeless || !covers {
			continue
		}
		host := hostOf(i.spec, made, to)
		d.checkAbilities(i, made.pointer, publishing, host)
		d.addHost(d.binding(to), i, made.pointer, host)
	}
	return nil
}

// hostOf is what an intent asks for a name. What is one cluster's has nothing to
// choose among.
func hostOf(spec intent.DNSIntent, made hostnameOf, to plan.Binding) plan.Host {
	host := plan.Host{
		Name: made.name, TTL: spec.TTL, Types: slices.Sorted(slices.Values(spec.RecordTypes)),
		Routing: routing(spec.Routing, to.Sources), Health: health(spec.Health),
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
func (d *draft) binding(b plan.Binding) *plan.Binding {
	for n := range d.group.Bindings {
		if compareBindings(d.group.Bindings[n], b) == 0 {
			return &d.group.Bindings[n]
		}
	}
	d.group.Bindings = append(d.group.Bindings, b)
	return &d.group.Bindings[len(d.group.Bindings)-1]
}

// addHost adds a name to a binding. Two intents may give the same name to the
// same service, as long as they agree.
func (d *draft) addHost(b *plan.Binding, i dnsIntent, pointer string, host plan.Host) {
	for _, other := range b.Hosts {
		if other.Name != host.Name {
			continue
		}
		if !reflect.DeepEqual(other, host) {
			d.fail(i.path, pointer, "another intent gives %q to service %q with another ttl, or other clusters, recordTypes, routing or health", host.Name, b.Service)
		}
		return
	}
	b.Hosts = append(b.Hosts, host)
	d.places[placeKey{app: b.App, service: b.Service, host: host.Name}] = place{i.path, pointer}
}

// finishBindings brings the bindings into order, refuses names that two of
// them would fight over, and lists the providers in use. It ends with ctx.
func (d *draft) finishBindings(ctx context.Context) error {
	slices.SortFunc(d.group.Bindings, compareBindings)
	for n := range d.group.Bindings {
		b := &d.group.Bindings[n]
		b.View, b.Prefix = "", keyPrefix(d.records[b.Record].frozen.Spec)
		if b.Scope == intent.Public {
			b.View = privateViews(d.records[b.Record].frozen.Spec)
		}
		slices.SortFunc(b.Hosts, func(x, y plan.Host) int { return strings.Compare(x.Name, y.Name) })
		use := Use{Record: d.records[b.Record].frozen.Path, Scope: b.Scope, Cluster: b.Cluster}
		if !slices.Contains(d.uses, use) {
			d.uses = append(d.uses, use)
		}
		for _, other := range d.group.Bindings[:n] {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.checkShared(other, *b)
		}
	}
	slices.SortFunc(d.uses, compareUses)
	return nil
}

// checkShared refuses what two bindings cannot both have: one object's name,
// or one name of one record, in one cluster, from both scopes, over which two
// external-dns would fight.
func (d *draft) checkShared(a, b plan.Binding) {
	twin := a
	twin.Namespace = b.Namespace
	if compareBindings(twin, b) == 0 {
		d.fail(d.in.owner.Path, "/spec/apps", "service %q of app %q is named in two namespaces, %s and %s; give one of them another app", b.Service, b.App, a.Namespace, b.Namespace)
	}
	if a.Record != b.Record || a.Cluster != b.Cluster || a.Scope == b.Scope {
		return
	}
	for _, host := range a.Hosts {
		if slices.ContainsFunc(b.Hosts, func(h plan.Host) bool { return h.Name == host.Name }) {
			d.fail(d.records[a.Record].frozen.Path, "", "%q would be published on %s in both scopes of the record: its external-dns would fight over it; set the intent's scope, or remove one association", host.Name, a.Cluster)
		}
	}
}

func compareBindings(a, b plan.Binding) int {
	return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Record, b.Record), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Cluster, b.Cluster))
}

func compareUses(a, b Use) int {
	return cmp.Or(cmp.Compare(a.Record, b.Record), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Cluster, b.Cluster))
}
