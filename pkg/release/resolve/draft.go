package resolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Draft is a release in the making: what the inputs amount to, and what is
// wrong with them.
type Draft struct {
	In       *inputs.Inputs
	Group    plan.Group             // without a path when what it would be made of is gone
	Records  map[string]RecordDraft // the records in use, by name
	Places   map[PlaceKey]Place     // where the names of the bindings were asked for; none of a rollback
	Uses     []state.Use            // ordered, none twice
	Offers   []state.Offer          // of autopath, that the pods of a group rely on
	Sharing  []intent.Path          // other groups that are given some of its names, too; some may be there twice
	Inputs   []state.Input          // what it follows from, ordered by path
	Errors   []intent.Field
	Warnings []string
	Missing  []string // Services, as namespace/name, that none of their clusters has

	orchestratedNamespaces grant.Namespaces // that app contexts may use
}

// PlaceKey names a host of a binding.
type PlaceKey struct{ App, Service, Host string }

// Place is a field of a document.
type Place struct {
	Path    intent.Path
	Pointer string
}

// RecordDraft is a record as the release would deploy it.
type RecordDraft struct {
	Lifecycle state.RecordLifecycle // as stored
	Frozen    plan.Record           // as it is deployed, or would be pinned now
}

// Live says whether the record is deployed already.
func (r RecordDraft) Live() bool {
	return r.Lifecycle.Deployed && r.Lifecycle.Record.UID == r.Frozen.UID
}

// Seq is the frozen record's number, as it is or as pinning it would make it.
func (r RecordDraft) Seq() int64 {
	if r.Live() {
		return r.Lifecycle.Seq
	}
	return r.Lifecycle.Seq + 1
}

// mostSaid is how many errors, and how many warnings, a plan has.
const mostSaid = 1000

// Fail adds an error about a field of a document. Of too many, the last one says
// that there are more.
func (d *Draft) Fail(path intent.Path, pointer, format string, args ...any) {
	field := intent.Field{Pointer: string(path) + "#" + pointer, Detail: fmt.Sprintf(format, args...)}
	switch {
	case len(d.Errors) >= mostSaid || slices.Contains(d.Errors, field):
	case len(d.Errors) == mostSaid-1:
		d.Errors = append(d.Errors, intent.Field{Pointer: string(path) + "#", Detail: "there are more errors than these: fix these first"})
	default:
		d.Errors = append(d.Errors, field)
	}
}

// Warn adds a warning, once. Of too many, the last one says that there are more.
func (d *Draft) Warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case len(d.Warnings) >= mostSaid || slices.Contains(d.Warnings, text):
	case len(d.Warnings) == mostSaid-1:
		d.Warnings = append(d.Warnings, "there are more warnings than these")
	default:
		d.Warnings = append(d.Warnings, text)
	}
}

// Draft resolves the inputs: which apps run where, which records serve which
// names, and where each record's external-dns lives.
func (s *Resolver) Draft(ctx context.Context, in *inputs.Inputs) (*Draft, error) {
	d := s.DraftApps(in)
	if err := s.DraftRecords(ctx, d); err != nil {
		return nil, err
	}
	asked, err := inputs.IntentsOf[intent.DNSIntent](in, "DNSIntent")
	if err != nil {
		return nil, err
	}
	for _, i := range asked {
		if err := d.bind(ctx, i); err != nil {
			return nil, err
		}
	}
	if err := d.finishBindings(ctx); err != nil {
		return nil, err
	}
	if err := d.bindPodDNS(); err != nil {
		return nil, err
	}
	d.checkOrchestrated()
	if err := s.bindAutopath(ctx, d); err != nil {
		return nil, err
	}
	s.collectClusters(d)
	d.noteInputs()
	return d, nil
}

// newDraft begins a draft with what all owners have.
func (s *Resolver) newDraft(in *inputs.Inputs) *Draft {
	d := &Draft{In: in, Records: map[string]RecordDraft{}, Places: map[PlaceKey]Place{}, orchestratedNamespaces: s.OrchestratedNamespaces}
	d.Group = plan.Group{
		Installation: s.Installation, Path: in.Owner.Path, UID: in.Owner.UID,
		Project: plan.Project{Name: in.Project.Metadata.Name, Namespace: in.Project.Spec.Namespace},
	}
	if len(d.orchestratedNamespaces) == 0 {
		d.orchestratedNamespaces = inputs.DefaultOrchestratedNamespaces()
	}
	return d
}

// DraftApps begins a draft: with which apps of which group run where.
func (s *Resolver) DraftApps(in *inputs.Inputs) *Draft {
	d := s.newDraft(in)
	d.Group.CompositeApp, d.Group.Version, _ = strings.Cut(in.Owner.Path.Parent().Name(), "/")
	d.Group.Name, d.Group.LogicalCloud, d.Group.LogicalCloudNamespace = in.Group.Metadata.Name, in.Group.Spec.LogicalCloud, in.Cloud.Spec.Namespace
	if in.Orchestration != nil {
		d.Group.Orchestrated = in.Orchestration.Frozen()
		d.Group.LogicalCloudNamespace = d.Group.Orchestrated.Namespace
	}
	for _, app := range in.Group.Spec.Apps {
		d.Group.Apps = append(d.Group.Apps, d.app(app))
	}
	slices.SortFunc(d.Group.Apps, func(a, b plan.App) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// app selects an app's clusters.
func (d *Draft) app(app intent.App) plan.App {
	out := plan.App{Name: app.Name, Namespace: app.Namespace, Manifests: app.Manifests}
	out.Namespace = cmp.Or(out.Namespace, d.In.Cloud.Spec.Namespace)
	if d.In.Orchestration != nil {
		for _, ref := range app.Clusters {
			out.Clusters = append(out.Clusters, ref.String())
		}
		slices.Sort(out.Clusters)
		return out
	}
	out.Clusters = d.In.Selected(app.Clusters, app.ClusterLabels, func(outside intent.ClusterRef) {
		d.Fail(d.In.Owner.Path, "/spec/apps", "app %q names cluster %s, which is no cluster reference of logical cloud %q", app.Name, outside, d.In.Group.Spec.LogicalCloud)
	})
	if len(out.Clusters) == 0 {
		d.Warn("%s", d.NoClusters(app.Name))
	}
	return out
}

// NoClusters warns that an app runs on no cluster, and lists the labels that there are.
func (d *Draft) NoClusters(app string) string {
	var have []string
	for _, member := range d.In.Members {
		for key, value := range d.In.Clusters[member].Spec.Labels {
			have = append(have, key+"="+value)
		}
	}
	slices.Sort(have)
	return fmt.Sprintf("app %q runs on no cluster: no cluster of logical cloud %q matches; its clusters have the labels %s",
		app, d.In.Group.Spec.LogicalCloud, cmp.Or(state.Few(slices.Compact(have)), "none"))
}

// DraftRecords pins each associated record: as it is deployed, or as it would
// be now.
func (s *Resolver) DraftRecords(ctx context.Context, d *Draft) error {
	for _, name := range slices.Sorted(maps.Keys(d.In.Records)) {
		doc := d.In.Records[name]
		lifecycle, read := d.In.Pinned[name]
		if !read {
			var err error
			if lifecycle, err = s.RecordLifecycle(ctx, doc.Path); err != nil {
				return err
			}
		}
		draft, err := s.draftRecord(d, doc, lifecycle)
		if err != nil {
			return err
		}
		if slices.Contains(d.In.CloudRecords, name) {
			draft.Frozen.Home = s.home(d, name, draft)
		}
		d.Records[name] = draft
	}
	for _, name := range d.In.CloudRecords {
		if _, known := d.Records[name]; !known {
			d.Fail(d.In.CloudPath, "/kv-pairs/"+intent.AssociationName, "names provider %q, which project %q does not have", name, d.Group.Project.Name)
		}
	}
	return nil
}

// draftRecord is a record as it is deployed, or as it would be pinned now, without a home.
func (s *Resolver) draftRecord(d *Draft, doc intent.Document, l state.RecordLifecycle) (RecordDraft, error) {
	r := RecordDraft{Lifecycle: l, Frozen: l.Record}
	if l.Deployed && l.Record.UID == doc.UID {
		return r, nil
	}
	var err error
	r.Frozen, err = s.Freeze(doc, d.Group.Project, nil, l)
	return r, err
}

// home is where a record's public external-dns lives: where it is pinned, else as the
// record, the logical cloud or the server says. Otherwise it is the logical cloud's only
// cluster.
func (s *Resolver) home(d *Draft, name string, r RecordDraft) *intent.ClusterRef {
	implied := r.Frozen.Spec.DeployOn.Ref(r.Frozen.Path)
	implied = cmp.Or(implied, d.In.Cloud.Spec.ControllerCluster, s.Inputs.ControllerCluster)
	if implied == nil && len(d.In.Members) == 1 {
		only, _ := intent.ParseCluster(d.In.Members[0])
		implied = &only
	}
	pinned := r.Frozen.Home
	if !r.Live() {
		pinned = nil
	}
	switch {
	case pinned != nil && implied != nil && *implied != *pinned:
		d.Fail(d.In.CloudPath, "/spec/controllerCluster", "external-dns of provider %q runs on %s for other deployments, but logical cloud %q has another controllerCluster, %s; use the same controllerCluster, or set the provider's deployOn", name, pinned, d.In.Group.Spec.LogicalCloud, implied)
		return pinned
	case pinned != nil:
		return pinned
	case implied == nil:
		d.Fail(r.Frozen.Path, "/spec/deployOn", "provider %q has no cluster for external-dns; set its deployOn, controllerCluster of logical cloud %q, or --controller-cluster of the server", name, d.In.Group.Spec.LogicalCloud)
	}
	return implied
}

// collectClusters lists the clusters that the release touches and refuses those that it
// cannot. Clusters of apps that an orchestrator deploys need not be pushed to.
func (s *Resolver) collectClusters(d *Draft) {
	pushed := state.Reached(d.Group)
	for _, name := range slices.Sorted(maps.Keys(pushed)) {
		cluster, known := d.In.Clusters[name]
		pointer, why := s.Unfit(name, known, cluster.Spec, d.Group.Project.Name)
		inventory := known && InventoryOnly(cluster.Spec) && !intent.IsPublisher(name)
		if why != "" && (pushed[name] || !inventory) {
			d.Fail(intent.ClusterPath(name), pointer, "%s", why)
		}
		d.Group.Clusters = append(d.Group.Clusters, plan.Cluster{Name: name, Directory: cluster.Spec.Directory, Inventory: inventory})
	}
	d.checkUses()
}

// Unfit says why Signpost cannot push a project's objects to a cluster, and
// which field of the cluster says so; empty when it can.
func (s *Resolver) Unfit(name string, known bool, spec intent.Cluster, project string) (pointer, why string) {
	switch {
	case intent.IsPublisher(name) && s.Inputs.DelegatedContexts != nil:
		return "/spec/deployOn", fmt.Sprintf("the built-in publisher writes names itself, which %s does here; name a cluster in deployOn", intent.Deployer)
	case intent.IsPublisher(name):
		return "", ""
	case !known:
		return "", fmt.Sprintf("cluster %s does not exist; create it, in %s", name, intent.ClusterKeeper)
	case s.Inputs.DelegatedContexts != nil && spec.Directory != "":
		return "/spec/directory", fmt.Sprintf("cluster %s is a directory, into which %s puts nothing; register it with a kubeconfig, or have %s keep it", name, intent.Deployer, intent.OrchestratorName)
	case s.Inputs.DelegatedContexts == nil && InventoryOnly(spec):
		return "/spec/kubeconfig", fmt.Sprintf("cluster %s is inventory only; give it a kubeconfig or a directory to deploy to it", name)
	case len(spec.Projects) > 0 && !slices.Contains(spec.Projects, project):
		return "/spec/projects", fmt.Sprintf("cluster %s does not allow project %q", name, project)
	}
	return "", ""
}

// InPlain refuses credentials that are given by value if the record's objects become
// files, or app contexts for a deployer. Others could read them there.
func (s *Resolver) InPlain(r plan.Record, cluster string, spec intent.Cluster) []intent.Field {
	var where string
	switch {
	case s.Inputs.DelegatedContexts != nil:
		where = "app contexts, which " + intent.Deployer + " reads"
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
				Detail:  fmt.Sprintf("%s has a value, which would be readable in %s; give it by secretRef to a Secret of namespace %s", c.Key(), where, r.Project.Namespace),
			})
		}
	}
	return out
}

// InventoryOnly tells whether somebody else than Signpost pushes to a cluster.
func InventoryOnly(spec intent.Cluster) bool { return spec.Directory == "" && spec.KubeconfigRef == "" }

// Directory says whether a cluster is a directory.
func Directory(g plan.Group, cluster string) bool {
	return slices.ContainsFunc(g.Clusters, func(c plan.Cluster) bool { return c.Name == cluster && c.Directory != "" })
}

// Asked are the places where names are asked for, by the name.
func (d *Draft) Asked() map[string]Place {
	asked := map[string]Place{}
	for at, place := range d.Places {
		asked[at.Host] = place
	}
	return asked
}

// WarnOfSuspension says what will wait, or not be published.
func (d *Draft) WarnOfSuspension() {
	if d.In.Group.Spec.Suspend {
		d.Warn("the deployment intent group is suspended: the release waits until suspend is false")
	}
	for _, use := range d.Uses {
		if d.Records[use.Record.Name()].Frozen.Spec.Suspend {
			d.Warn("provider %q is suspended: none of its names is published or removed until its suspend is false and it is updated", use.Record.Name())
		}
	}
}
