package resolve

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// nameApp is what stands in the place of an app in the release of a name.
const nameApp = "name"

// DraftName resolves a name: which provider serves it, where the external-dns of that
// lives, and which clusters its addresses come from.
func (s *Resolver) DraftName(ctx context.Context, in *inputs.Inputs) (*Draft, error) {
	d := s.newDraft(in)
	d.Group.Name = in.Owner.Path.Name()
	if err := s.DraftRecords(ctx, d); err != nil {
		return nil, err
	}
	s.bindName(d)
	if err := d.finishBindings(ctx); err != nil {
		return nil, err
	}
	s.collectClusters(d)
	d.noteInputs()
	return d, nil
}

// bindName adds the bindings of a name. In the public scope it is one for all of its
// clusters, in the scope of clusters one for each.
func (s *Resolver) bindName(d *Draft) {
	name := d.In.Name
	if _, known := d.Records[name.Provider]; !known {
		d.Fail(d.Group.Path, "/spec/provider", "project %q has no provider %q", d.Group.Project.Name, name.Provider)
		return
	}
	if name.Clusters != nil && len(d.In.Members) == 0 {
		d.Warn("no cluster has the labels of the selector: the name has no addresses until one does; clusters have the labels %s",
			cmp.Or(state.Few(d.In.ClusterLabels), "none"))
	}
	d.checkDirectories()
	d.checkNameRouting()
	if name.Scope == intent.ClusterScope {
		d.bindNameInClusters()
		return
	}
	record := d.Records[name.Provider]
	record.Frozen.Home = s.nameHome(d, record)
	d.Records[name.Provider] = record
	d.bindNameTo(plan.Binding{Scope: intent.Public, Sources: d.In.Members})
}

// bindNameInClusters binds a name in each of its clusters with which its provider is
// associated. Nobody compares names within a cluster with those of other projects, so an
// association is needed, which administrators of all projects make.
func (d *Draft) bindNameInClusters() {
	provider := d.In.Name.Provider
	for _, cluster := range d.In.Members {
		switch {
		case d.Records[provider].Frozen.Spec.DeployOn.BuiltIn():
			d.Fail(d.Group.Path, "/spec/scope", "provider %q has the built-in publisher, which has public names only; choose scope public", provider)
		case d.In.Serves(provider, cluster):
			d.bindNameTo(plan.Binding{Scope: intent.ClusterScope, Cluster: cluster, Sources: []string{cluster}})
		case d.In.FollowsClusters():
			d.Warn("provider %q is not associated with %s: the name is not published there", provider, cluster)
		default:
			d.Fail(d.Group.Path, "/spec/scope", "provider %q is not associated with %s; have an administrator of all projects list the cluster in spec.clusters of the provider, or choose scope public", provider, cluster)
		}
	}
}

// checkDirectories refuses clusters in which Services cannot be seen. A selector may meet
// some of them: they give no addresses.
func (d *Draft) checkDirectories() {
	for _, cluster := range d.In.Members {
		switch {
		case d.In.Clusters[cluster].Spec.Directory == "":
		case d.In.FollowsClusters():
			d.Warn("%s is a directory, in which Services cannot be seen: it gives no address", cluster)
		default:
			d.Fail(d.Group.Path, "/spec/clusters", "%s is a directory, in which Services cannot be seen; choose clusters with a kubeconfig, or give addresses instead of service", cluster)
		}
	}
}

func (d *Draft) bindNameTo(to plan.Binding) {
	name, host, record := d.In.Name, d.Group.Name, d.Records[d.In.Name.Provider].Frozen
	if to.Cluster == "" && record.Home == nil {
		return // an error of the draft says so
	}
	to.Cluster = cmp.Or(to.Cluster, clusterName(record.Home))
	to.App, to.Record = nameApp, name.Provider
	to.Namespace, to.Service = name.ServiceRef()
	publishing := PublishingOf(record)
	if !publishing.Coverage.Covers(host) {
		d.Fail(d.Group.Path, "/spec/provider", "provider %q does not serve %q: its domain-filter or zones do not cover the name", name.Provider, host)
		return
	}
	i := inputs.DNSIntent{Path: d.Group.Path, Spec: intent.DNSIntent{TTL: name.TTL, RecordTypes: name.RecordTypes, Routing: clusterWords(name.Routing), Health: name.Health}}
	published := hostOf(i.Spec, hostnameOf{name: host}, to, record)
	published.Targets, published.Records = name.Fixed(), publishing.written(name.Records)
	d.checkAbilities(i, "/metadata/name", publishing, published)
	d.addHost(d.binding(to), i, "/metadata/name", published)
}

func clusterName(ref *intent.ClusterRef) string {
	if ref == nil {
		return ""
	}
	return ref.String()
}

// clusterWords writes the clusters of a name's routing as releases do.
func clusterWords(in *intent.Routing) *intent.Routing {
	if in == nil {
		return nil
	}
	out := intent.Routing{Policy: in.Policy}
	for _, cluster := range in.Order {
		out.Order = append(out.Order, strings.Replace(cluster, "/", "+", 1))
	}
	out.Weights, out.Regions, out.Locations = byClusterWord(in.Weights), byClusterWord(in.Regions), byClusterWord(in.Locations)
	return &out
}

// byClusterWord is a map by clusters, which are written as releases do; nil if it is empty.
func byClusterWord[T any](in map[string]T) map[string]T {
	if len(in) == 0 {
		return nil
	}
	out := map[string]T{}
	for cluster, value := range in {
		out[strings.Replace(cluster, "/", "+", 1)] = value
	}
	return out
}

// checkNameRouting refuses clusters of the routing that the name does not have.
func (d *Draft) checkNameRouting() {
	routing := clusterWords(d.In.Name.Routing)
	if routing == nil {
		return
	}
	outside := func(pointer, cluster string) {
		if !slices.Contains(d.In.Members, cluster) {
			d.Fail(d.Group.Path, "/spec/routing/"+pointer, "%s is none of the name's clusters, which are %s; name these", cluster, cmp.Or(strings.Join(d.In.Members, ", "), "none"))
		}
	}
	for _, cluster := range routing.Order {
		outside("order", cluster)
	}
	listed := routing.Listed()
	for _, field := range slices.Sorted(maps.Keys(listed)) {
		for _, cluster := range listed[field] {
			outside(field, cluster)
		}
	}
	for _, field := range routing.Unread() {
		d.Warn("routing/%s has no effect with policy %s", field, cmp.Or(routing.Policy, intent.Multivalue))
	}
	if routing.Unanswered() {
		d.Warn("routing " + intent.UnansweredWarning)
	}
}

// nameHome is the cluster of the external-dns of a name's provider. It is where it runs
// already, else as the provider or the server says, else the name's only cluster.
func (s *Resolver) nameHome(d *Draft, r RecordDraft) *intent.ClusterRef {
	if r.Live() && r.Frozen.Home != nil {
		return r.Frozen.Home
	}
	if home := cmp.Or(r.Frozen.Spec.DeployOn.Ref(r.Frozen.Path), s.Inputs.ControllerCluster); home != nil {
		return home
	}
	if len(d.In.Members) == 1 {
		only, _ := intent.ParseCluster(d.In.Members[0])
		return &only
	}
	d.Fail(r.Frozen.Path, "/spec/deployOn", "provider %q has no cluster for external-dns; set deployOn of the provider, or --controller-cluster of the server", r.Frozen.Name)
	return nil
}

// noteInputs lists what the draft follows from.
func (d *Draft) noteInputs() {
	d.Inputs = d.In.Inputs()
	for _, name := range slices.Sorted(maps.Keys(d.Records)) {
		r := d.Records[name]
		d.Inputs = append(d.Inputs, state.Input{Path: state.LifecyclePath(r.Frozen.Path), UID: r.Frozen.UID, Revision: r.Frozen.Revision})
	}
}
