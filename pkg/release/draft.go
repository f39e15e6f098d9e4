package release

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/grant"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// draft is a release in the making: what the inputs amount to, and what is
// wrong with them.
type draft struct {
	in       *inputs
	group    plan.Group             // without a path when what it would be made of is gone
	records  map[string]recordDraft // the records in use, by name
	places   map[placeKey]place     // where the names of the bindings were asked for; none of a rollback
	uses     []Use                  // ordered, none twice
	offers   []Offer                // of autopath, that the pods of a group rely on
	inputs   []Input                // what it follows from, ordered by path
	errors   []intent.Field
	warnings []string

	emcoNamespaces grant.Namespaces // that app contexts of EMCO's may use
}

// placeKey names a host of a binding.
type placeKey struct{ app, service, host string }

// place is a field of a document.
type place struct {
	path    intent.Path
	pointer string
}

// recordDraft is a record as the release would deploy it.
type recordDraft struct {
	lifecycle RecordLifecycle // as stored
	frozen    plan.Record     // as it is deployed, or would be pinned now
}

// live says whether the record is deployed already.
func (r recordDraft) live() bool {
	return r.lifecycle.Deployed && r.lifecycle.Record.UID == r.frozen.UID
}

// seq is the frozen record's number, as it is or as pinning it would make it.
func (r recordDraft) seq() int64 {
	if r.live() {
		return r.lifecycle.Seq
	}
	return r.lifecycle.Seq + 1
}

func (d *draft) fail(path intent.Path, pointer, format string, args ...any) {
	field := intent.Field{Pointer: string(path) + "#" + pointer, Detail: fmt.Sprintf(format, args...)}
	if !slices.Contains(d.errors, field) {
		d.errors = append(d.errors, field)
	}
}

func (d *draft) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(d.warnings, text) {
		d.warnings = append(d.warnings, text)
	}
}

// draft resolves the inputs: which apps run where, which records serve which
// names, and where each record's external-dns lives.
func (s *Service) draft(ctx context.Context, in *inputs) (*draft, error) {
	d := s.draftApps(in)
	if err := s.draftRecords(ctx, d); err != nil {
		return nil, err
	}
	for _, i := range in.intents {
		if err := d.bind(ctx, i); err != nil {
			return nil, err
		}
	}
	if err := d.finishBindings(ctx); err != nil {
		return nil, err
	}
	d.bindPodDNS()
	d.checkOrchestrated()
	if err := s.bindAutopath(ctx, d); err != nil {
		return nil, err
	}
	s.collectClusters(d)
	d.inputs = in.inputs()
	for _, name := range slices.Sorted(maps.Keys(d.records)) {
		r := d.records[name]
		d.inputs = append(d.inputs, Input{Path: lifecyclePath(r.frozen.Path), UID: r.frozen.UID, Revision: r.frozen.Revision})
	}
	return d, nil
}

// draftApps begins a draft: with which apps of which group run where.
func (s *Service) draftApps(in *inputs) *draft {
	d := &draft{in: in, records: map[string]recordDraft{}, places: map[placeKey]place{}, emcoNamespaces: s.EMCONamespaces}
	if len(d.emcoNamespaces) == 0 {
		d.emcoNamespaces = DefaultEMCONamespaces()
	}
	spec := in.group.Spec
	namespace := in.cloud.Spec.Namespace
	version := in.owner.Path.Parent().Name()
	app, version, _ := strings.Cut(version, "/")
	d.group = plan.Group{
		Installation: s.Installation, Path: in.owner.Path, UID: in.owner.UID,
		Project:      plan.Project{Name: in.project.Metadata.Name, Namespace: in.project.Spec.Namespace},
		CompositeApp: app, Version: version, Name: in.group.Metadata.Name,
		LogicalCloud: spec.LogicalCloud, LogicalCloudNamespace: namespace,
	}
	if in.orchestration != nil {
		d.group.Orchestrated = in.orchestration.frozen()
		d.group.LogicalCloudNamespace = d.group.Orchestrated.Namespace
	}
	for _, app := range spec.Apps {
		d.group.Apps = append(d.group.Apps, d.app(app))
	}
	slices.SortFunc(d.group.Apps, func(a, b plan.App) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// app selects an app's clusters.
func (d *draft) app(app intent.App) plan.App {
	out := plan.App{Name: app.Name, Namespace: app.Namespace, Manifests: app.Manifests}
	if out.Namespace == "" {
		out.Namespace = d.in.cloud.Spec.Namespace
	}
	if d.in.orchestration != nil {
		for _, ref := range app.Clusters {
			out.Clusters = append(out.Clusters, ref.String())
		}
		slices.Sort(out.Clusters)
		return out
	}
	out.Clusters = d.in.selected(app.Clusters, app.ClusterLabels, func(stranger intent.ClusterRef) {
		d.fail(d.in.owner.Path, "/spec/apps", "app %q names cluster %s, which is no cluster reference of logical cloud %q", app.Name, stranger, d.in.group.Spec.LogicalCloud)
	})
	if len(out.Clusters) == 0 {
		d.warn("app %q runs on no cluster: logical cloud %q has none that fits", app.Name, d.in.group.Spec.LogicalCloud)
	}
	return out
}

// selected are, in order, the clusters of the logical cloud that are named,
// else all of them, narrowed by labels. Those named that are none of it go to
// strangers.
func (in *inputs) selected(named []intent.ClusterRef, labels map[string]string, strangers func(intent.ClusterRef)) []string {
	names := in.members
	if len(named) > 0 {
		names = nil
		for _, ref := range named {
			if !slices.Contains(in.members, ref.String()) {
				strangers(ref)
				continue
			}
			names = append(names, ref.String())
		}
	}
	var out []string
	for _, name := range names {
		if labelled(in.clusters[name].Spec.Labels, labels) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func labelled(have, want map[string]string) bool {
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return true
}

// draftRecords pins each associated record: as it is deployed, or as it would
// be now.
func (s *Service) draftRecords(ctx context.Context, d *draft) error {
	for _, name := range slices.Sorted(maps.Keys(d.in.records)) {
		doc := d.in.records[name]
		lifecycle, err := s.recordLifecycle(ctx, doc.Path)
		if err != nil {
			return err
		}
		draft := recordDraft{lifecycle: lifecycle, frozen: lifecycle.Record}
		if !lifecycle.Deployed || lifecycle.Record.UID != doc.UID {
			if draft.frozen, err = s.freeze(doc, d.group.Project, nil, lifecycle); err != nil {
				return err
			}
		}
		d.records[name] = draft
		if slices.Contains(d.in.cloudRecords, name) {
			draft.frozen.Home = s.home(d, name, draft)
			d.records[name] = draft
		}
	}
	for _, name := range d.in.cloudRecords {
		if _, known := d.records[name]; !known {
			d.fail(d.in.cloudPath, "/kv-pairs/"+intent.AssociationName, "names record %q, which project %q does not have", name, d.group.Project.Name)
		}
	}
	return nil
}

// home is where a record's public external-dns lives: where it is pinned, else
// as the record, the logical cloud or the server says, else the logical
// cloud's only cluster.
func (s *Service) home(d *draft, name string, r recordDraft) *intent.ClusterRef {
	implied := r.frozen.Spec.DeployOn
	if implied == nil {
		implied = d.in.cloud.Spec.ControllerCluster
	}
	if implied == nil {
		implied = s.ControllerCluster
	}
	if implied == nil && len(d.in.members) == 1 {
		only, _ := intent.ParseCluster(d.in.members[0])
		implied = &only
	}
	pinned := r.frozen.Home
	if !r.live() {
		pinned = nil
	}
	switch {
	case pinned != nil && implied != nil && *implied != *pinned:
		d.fail(d.in.cloudPath, "/spec/controllerCluster", "record %q lives on %s, where other deployments use it, but logical cloud %q implies %s; use the same controllerCluster, or set the record's deployOn", name, pinned, d.in.group.Spec.LogicalCloud, implied)
		return pinned
	case pinned != nil:
		return pinned
	case implied == nil:
		d.fail(r.frozen.Path, "/spec/deployOn", "it is not said where external-dns of record %q is to live: set deployOn of the record, controllerCluster of logical cloud %q, or --controller-cluster of the server", name, d.in.group.Spec.LogicalCloud)
	}
	return implied
}

// reached are the clusters that a group touches, and whether Signpost pushes to
// them: not to those of apps that EMCO deploys, as such.
func reached(g plan.Group) map[string]bool {
	pushed := map[string]bool{}
	for _, cluster := range placed(g) {
		pushed[cluster] = g.Orchestrated == nil
	}
	for _, b := range g.Bindings {
		pushed[b.Cluster] = true
	}
	return pushed
}

// placed are the clusters of a group's apps and DNS, wherever the homes of its
// names are. Apps that EMCO deploys matter if something is asked for them.
func placed(g plan.Group) []string {
	var clusters []string
	for _, app := range g.Apps {
		if g.Orchestrated == nil || asked(g, app) {
			clusters = append(clusters, app.Clusters...)
		}
	}
	for _, dns := range g.AllDNS() {
		clusters = append(clusters, dns.Cluster)
	}
	return clusters
}

// asked says whether names, or DNS settings of its pods, are asked for an app.
func asked(g plan.Group, app plan.App) bool {
	return app.PodDNS != nil || slices.ContainsFunc(g.Bindings, func(b plan.Binding) bool { return b.App == app.Name })
}

// collectClusters lists the clusters that the release touches and refuses
// those that it cannot. Those of apps that EMCO deploys need not be pushed to.
func (s *Service) collectClusters(d *draft) {
	pushed := reached(d.group)
	for _, name := range slices.Sorted(maps.Keys(pushed)) {
		cluster, known := d.in.clusters[name]
		ref, _ := intent.ParseCluster(name)
		pointer, why := s.unfit(name, known, cluster.Spec, d.group.Project.Name)
		inventory := known && inventoryOnly(cluster.Spec)
		if why != "" && (pushed[name] || !inventory) {
			d.fail(ref.Path(), pointer, "%s", why)
		}
		d.group.Clusters = append(d.group.Clusters, plan.Cluster{Name: name, Directory: cluster.Spec.Directory, Inventory: inventory})
	}
}

// unfit says why Signpost cannot push a project's objects to a cluster, and
// which field of the cluster says so; empty when it can.
func (s *Service) unfit(name string, known bool, spec intent.Cluster, project string) (pointer, why string) {
	switch {
	case !known:
		return "", fmt.Sprintf("cluster %s does not exist; create it, in EMCO's CLM where that keeps clusters (--emco-clm)", name)
	case s.Handed != nil && spec.Directory != "":
		return "/spec/directory", fmt.Sprintf("cluster %s is a directory, into which EMCO's rsync (--rsync-endpoint) puts nothing; register it with a kubeconfig, or have EMCO keep it", name)
	case s.Handed == nil && inventoryOnly(spec):
		return "/spec/kubeconfig", fmt.Sprintf("cluster %s is inventory only: it needs a kubeconfig or a directory for Signpost to push to it", name)
	case len(spec.Projects) > 0 && !slices.Contains(spec.Projects, project):
		return "/spec/projects", fmt.Sprintf("cluster %s does not admit project %q", name, project)
	}
	return "", ""
}

// inPlain refuses the credentials of a record that are given by value, where
// its objects become files, or app contexts for EMCO's rsync: there others could
// read them.
func (s *Service) inPlain(r plan.Record, cluster string, spec intent.Cluster) []intent.Field {
	var where string
	switch {
	case s.Handed != nil:
		where = "app contexts, which EMCO's rsync (--rsync-endpoint) reads"
	case spec.Directory != "":
		where = "the files of " + cluster + ", a directory"
	default:
		return nil
	}
	var out []intent.Field
	for n, c := range r.Spec.Credentials {
		if c.SecretRef == nil {
			out = append(out, intent.Field{
				Pointer: fmt.Sprintf("/spec/credentials/%d", n),
				Detail:  fmt.Sprintf("%s has a value, which would be plain in %s; give it by secretRef to a Secret of namespace %s", c.Key(), where, r.Project.Namespace),
			})
		}
	}
	return out
}

// inventoryOnly tells whether somebody else than Signpost pushes to a cluster.
func inventoryOnly(spec intent.Cluster) bool { return spec.Directory == "" && spec.KubeconfigRef == "" }
