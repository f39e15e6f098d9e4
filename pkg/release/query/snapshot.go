// Package query reads what has become of releases.
package query

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/cleanup"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// Snapshot is all that is known of a group, from which its status follows.
type Snapshot struct {
	Owner      appcontext.Owner
	Lifecycle  state.Lifecycle
	AppContext *AppContextReport        // nil: no orchestrator has ever deployed it
	Group      plan.Group               // of the wanted release; zero before the first
	Inputs     []state.Input            // that the wanted release follows from
	Committed  bool                     // the wanted release's context is current
	Current    time.Time                // since when it is; zero while it is not
	Idle       bool                     // no worker is running: all is as it was last seen, and nothing goes on; set by who knows
	Suspended  bool                     // the group's document says that the clusters are to be left as they are
	Objects    bundle.Bundle            // of the current context
	Due        bundle.Bundle            // that it would have by what is observed now
	Going      bundle.Bundle            // of the context that was withdrawn
	DNS        []render.DNSReport       // of a logical cloud, by cluster
	Choices    [][]address.Choice       // of the group's bindings, from what is observed now; if Suspended with the targets that are kept
	Publishers sharing.Publishers       // of the names of Group
	GivenUp    []sharing.GivenUp        // names of the release that others have taken over, which are not in Group
	Clusters   map[string]ClusterReport // every cluster that the release or the context touches
	Providers  []ProviderReport         // those in use, then those that are draining

	Undeployed []intent.UndeployedDocument // set by who asks Reader.Undeployed
}

// HeldSince is since when names of a binding's record stay published although
// nothing offers them an address any more; zero where none does.
func (snap *Snapshot) HeldSince(b plan.Binding) time.Time {
	return snap.Lifecycle.RetainedOf(state.RecordPath(snap.Group, b)).Since
}

// AppContextReport is what is known of the app context that a group is for,
// or was for last.
type AppContextReport struct {
	ID    string
	State string // in the orchestrator's words, empty while it has said nothing
	Why   string // why that is not known, or the context is not what the orchestrator has in the clusters; else empty
}

// ClusterReport is what is known of a cluster.
type ClusterReport struct {
	Reachability *observed.Reachability     // nil: nobody has tried yet
	Abandoned    *intent.Abandoned          // nil: it is served; else the rest is how it was last seen, and no entries
	Entries      map[bundle.ID]ledger.Entry // of the objects that were asked for
}

// ProviderReport is what is known of one external-dns.
type ProviderReport struct {
	Owner    appcontext.Owner
	Use      state.Use
	Record   plan.Record
	OwnerID  string
	Draining bool                 // nothing relies on it any more
	Until    time.Time            // until when it waits at the latest for the names of the owner, while it is draining; zero: its DNSEndpoints are still there
	Waiting  bool                 // it has no pod until the names have followed it to its new home
	Objects  bundle.Bundle        // of its current context
	Observed *observed.Deployment // nil where it cannot be observed
	// Published are the DNSEndpoints, by name, that were seen to be published.
	// Only those of the group whose snapshot it is are among them.
	Published map[string]observed.Published
	// Answers are what authoritative servers said of the names of DNSEndpoints, by
	// the same names.
	Answers map[string]observed.Answers
	Cluster ClusterReport
}

// Reader takes snapshots.
type Reader struct {
	*state.Store
	Inputs   *inputs.Reader
	Tenancy  *tenancy.Keeper
	Resolver *resolve.Resolver
	Sharing  *sharing.Judge
	Renderer *render.Renderer
	Follower *follow.Follower

	// ListZone reads all sets that the zones of a provider of a project have, ordered by name and type. For a further page of a list, it
	// may answer an earlier reading. The sets are not changed. nil: no zone can be read.
	ListZone func(ctx context.Context, project string, of bundle.Publisher, further bool) ([]publisher.Set, error)
}

// Snapshot reads what is known of a group, as it is at one time.
func (s *Reader) Snapshot(ctx context.Context, group intent.Path) (Snapshot, error) {
	return s.atOnce(ctx, group, ahead.Reads{}, func(ctx context.Context) (Snapshot, error) { return s.readSnapshot(ctx, group, nil) })
}

// FullSnapshot reads a snapshot, and the documents that differ from its release, at the same time.
func (s *Reader) FullSnapshot(ctx context.Context, owner intent.Path) (Snapshot, error) {
	return s.atOnce(ctx, owner, s.documentsOf(owner), func(ctx context.Context) (Snapshot, error) {
		snap, err := s.readSnapshot(ctx, owner, s.inputsOf)
		if err == nil {
			snap.Undeployed, err = s.Undeployed(ctx, &snap)
		}
		return snap, err
	})
}

// readSnapshot reads a snapshot. Parameter more is what the caller is going to read besides; nil: nothing.
func (s *Reader) readSnapshot(ctx context.Context, group intent.Path, more func(*Snapshot) ahead.Reads) (Snapshot, error) {
	snap := Snapshot{Owner: state.GroupOwner(group), Clusters: map[string]ClusterReport{}}
	doc, l, err := state.Owned(ctx, s.Store, group)
	if snap.Lifecycle = l; err != nil || l.Seq == 0 {
		return snap, err
	}
	if snap.Suspended, err = snap.Lifecycle.SuspendedBy(doc); err != nil {
		return snap, err
	}
	pointer, err := s.Contexts.Current(ctx, snap.Owner)
	if err != nil {
		return snap, err
	}
	if err := s.readAhead(ctx, &snap.Lifecycle, pointer); err != nil {
		return snap, err
	}
	if snap.Objects, err = s.Contexts.Objects(ctx, pointer); err != nil {
		return snap, err
	}
	snap.Committed = pointer.ContextID == snap.Lifecycle.ContextID || !snap.Lifecycle.Deployed() && pointer.ContextID == ""
	if snap.Committed {
		snap.Current = pointer.Since
	}
	if err := s.snapRelease(ctx, &snap, more); err != nil {
		return snap, err
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(pointer.Clusters)), maps.Keys(pointer.Withdrawn))
	for _, cluster := range slices.Sorted(maps.Keys(pointer.Withdrawn)) {
		going, err := s.Contexts.WithdrawnFrom(ctx, pointer, cluster)
		if err != nil {
			return snap, err
		}
		snap.Going = append(snap.Going, going...)
	}
	names = append(names, snap.Lifecycle.RemovedClusters...)
	for _, c := range snap.Group.Clusters {
		names = append(names, c.Name)
	}
	objects := snap.objectsByCluster()
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if snap.Clusters[name], err = s.reportCluster(ctx, name, objects[name]); err != nil {
			return snap, err
		}
	}
	err = s.snapProviders(ctx, &snap, objects)
	return snap, err
}

// snapProviders reads the external-dns that an owner uses, and those that it has left and that are there still.
func (s *Reader) snapProviders(ctx context.Context, snap *Snapshot, objects map[string][]bundle.ID) error {
	for _, use := range append(slices.Clone(snap.Lifecycle.Uses), snap.Lifecycle.Draining...) {
		report, err := s.reportProvider(ctx, use, objects[use.Cluster])
		if err != nil {
			return err
		}
		if report.Draining = !slices.Contains(snap.Lifecycle.Uses, use); report.Draining {
			if report.Until, err = s.cleanupUntil(ctx, report.Record, use, objects[use.Cluster]); err != nil {
				return err
			}
		}
		if !report.Draining || len(report.Objects) > 0 {
			snap.Providers = append(snap.Providers, report)
		}
	}
	return nil
}

// snapRelease reads the wanted release and folds what is observed into it.
func (s *Reader) snapRelease(ctx context.Context, snap *Snapshot, more func(*Snapshot) ahead.Reads) error {
	release, err := s.LoadRelease(ctx, snap.Lifecycle.ContextID)
	if err != nil {
		return err
	}
	snap.Group, snap.Inputs = snap.Lifecycle.Placed(release.Group), release.Inputs
	if err := s.readRest(ctx, snap, more); err != nil {
		return err
	}
	if snap.AppContext, err = s.reportAppContext(ctx, &snap.Lifecycle); err != nil {
		return err
	}
	if snap.GivenUp, err = s.Sharing.GivenUp(ctx, snap.Lifecycle, release.Group); err != nil {
		return err
	}
	records, err := s.Pinned(ctx, release.Group)
	if err != nil {
		return err
	}
	drained, err := s.DrainedClusters(ctx)
	if err != nil {
		return err
	}
	look := s.Renderer.ObservedSources(snap.Group)
	look.Keep = snap.Lifecycle.StillRetained(snap.Group)
	contents, err := render.Render(ctx, snap.Group, records, drained.Clusters, snap.Objects, look)
	if err != nil {
		return err
	}
	snap.Choices, snap.Due, snap.DNS = contents.Choices, contents.Objects, contents.DNS
	if snap.AppContext != nil && snap.AppContext.Why == "" && len(contents.Unread) > 0 {
		snap.AppContext.Why = strings.Join(contents.Unread, "; ") + ": published addresses stay"
	}
	for n, r := range snap.DNS {
		if snap.DNS[n].Pods, err = s.Observed.DaemonSet(ctx, r.Cluster, r.Spec.Namespace, clusterdns.ServiceName); err != nil {
			return err
		}
		if !clusterdns.HasNodeCache(r.ClusterDNS) {
			continue
		}
		if snap.DNS[n].Caches, err = s.Observed.DaemonSet(ctx, r.Cluster, r.Spec.Namespace, clusterdns.CacheName); err != nil {
			return err
		}
	}
	if snap.Suspended {
		snap.keepTargets()
	}
	if snap.Lifecycle.Deployed() {
		snap.Publishers, err = s.Sharing.Publishers(ctx, snap.Group)
	}
	return err
}

func (s *Reader) reportAppContext(ctx context.Context, l *state.Lifecycle) (*AppContextReport, error) {
	if l.AppContext == "" {
		return nil, nil
	}
	is, why, err := s.Follower.Told(ctx, l)
	return &AppContextReport{ID: l.AppContext, State: is, Why: why}, err
}

// objectsByCluster are the IDs of all that a group has, had, or would have in clusters.
func (snap *Snapshot) objectsByCluster() map[string][]bundle.ID {
	all := append(snap.Objects.IDs(), snap.Going.IDs()...)
	for _, b := range snap.Group.Bindings {
		all = append(all, endpoints.ID(snap.Group, b))
	}
	slices.SortFunc(all, bundle.Compare)
	by := map[string][]bundle.ID{}
	for _, id := range slices.Compact(all) {
		by[id.Cluster] = append(by[id.Cluster], id)
	}
	return by
}

func (s *Reader) reportCluster(ctx context.Context, cluster string, objects []bundle.ID) (ClusterReport, error) {
	r := ClusterReport{Entries: map[bundle.ID]ledger.Entry{}}
	var err error
	if r.Reachability, err = s.Observed.Reachability(ctx, cluster); err != nil {
		return r, err
	}
	if r.Abandoned, err = s.Abandoned(ctx, intent.ClusterPath(cluster)); err != nil {
		return r, err
	}
	entries, err := s.Ledger.Entries(ctx, cluster, objects)
	for _, e := range entries {
		r.Entries[e.ID] = e
	}
	return r, err
}

// cleanupUntil returns until when an external-dns has time to remove the names of some DNSEndpoints from DNS. It is zero if one of
// these is still there, and if none has names to remove.
func (s *Reader) cleanupUntil(ctx context.Context, record plan.Record, use state.Use, objects []bundle.ID) (until time.Time, err error) {
	known, err := cleanup.Of(s.Store, use).Get(ctx, endpointsIn(record.Project.Namespace, objects))
	for _, d := range known {
		if d.GoneSince.IsZero() {
			return time.Time{}, err
		}
		if end := d.GoneSince.Add(state.ReleaseTimeout(record, d.Targets)); end.After(until) {
			until = end
		}
	}
	return until, err
}

// endpointsIn returns the names of the DNSEndpoints of a namespace among objects.
func endpointsIn(namespace string, objects []bundle.ID) (names []string) {
	for _, id := range objects {
		if id.IsEndpoint() && id.Namespace == namespace {
			names = append(names, id.Name)
		}
	}
	return names
}

// reportProvider reads what is known of an external-dns, and of some objects on its
// cluster that it may publish.
func (s *Reader) reportProvider(ctx context.Context, use state.Use, objects []bundle.ID) (ProviderReport, error) {
	r := ProviderReport{Owner: use.Owner(), Use: use}
	l, err := s.RecordLifecycle(ctx, use.Record)
	if err != nil {
		return r, err
	}
	r.Record, r.Waiting = l.Record, l.MovingIn(use.Scope)
	r.OwnerID = provider.OwnerID(plan.Provider{Record: l.Record, Scope: use.Scope, Cluster: use.Cluster})
	pointer, err := s.Contexts.Current(ctx, use.Owner())
	if err != nil {
		return r, err
	}
	if r.Objects, err = s.Contexts.Objects(ctx, pointer); err != nil {
		return r, err
	}
	if r.Cluster, err = s.reportCluster(ctx, use.Cluster, r.Objects.IDs()); err != nil {
		return r, err
	}
	namespace := l.Record.Project.Namespace
	published := endpointsIn(namespace, objects)
	if r.Published, err = s.Observed.Published(ctx, use.Cluster, namespace, published...); err != nil {
		return r, err
	}
	if r.Answers, err = s.Observed.Answers(ctx, use.Cluster, namespace, published...); err != nil {
		return r, err
	}
	r.Observed, err = s.Observed.Deployment(ctx, use.Cluster, namespace, provider.DeploymentName(l.Record.Name, use.Scope))
	return r, err
}

// RecordSnapshot is all that is known of a record that is deployed.
type RecordSnapshot struct {
	Lifecycle state.RecordLifecycle
	Providers []ProviderReport // ordered by scope and cluster
	Warnings  []intent.Warning // of what a plan would refuse, for what others have

	Undeployed []intent.UndeployedDocument // the record itself, if it differs from what is deployed
}

// RecordSnapshot reads what is known of a record.
func (s *Reader) RecordSnapshot(ctx context.Context, record intent.Path) (RecordSnapshot, error) {
	return state.RetryOnConflict(ctx, record, func(ctx context.Context) (RecordSnapshot, error) { return s.tryRecordSnapshot(ctx, record) })
}

func (s *Reader) tryRecordSnapshot(ctx context.Context, record intent.Path) (RecordSnapshot, error) {
	var snap RecordSnapshot
	doc, err := s.Documents.Get(ctx, record)
	if err != nil {
		return snap, err
	}
	if snap.Warnings, err = s.Tenancy.OwnerWarnings(ctx, doc); err != nil {
		return snap, err
	}
	lifecycle, err := s.RecordLifecycle(ctx, record)
	if err != nil {
		return snap, err
	}
	homeless, err := s.Resolver.HomelessWarnings(ctx, doc, lifecycle)
	snap.Warnings = append(snap.Warnings, homeless...)
	if err != nil || lifecycle.Record.UID != doc.UID {
		return snap, err
	}
	snap.Lifecycle = lifecycle
	if snap.Undeployed, err = undeployedRecord(doc, lifecycle); err != nil {
		return snap, err
	}
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(record)))
	if err != nil {
		return snap, err
	}
	for _, p := range pointers {
		if p.ContextID == "" {
			continue
		}
		_, scope, cluster, _ := p.Owner.Provider()
		report, err := s.reportProvider(ctx, state.Use{Record: record, Scope: intent.Scope(scope), Cluster: cluster}, nil)
		if err != nil {
			return snap, err
		}
		snap.Providers = append(snap.Providers, report)
	}
	return snap, nil
}

// keepTargets puts the targets that the group's DNSEndpoints hold in place of
// those that would be chosen now: nobody writes the latter.
func (snap *Snapshot) keepTargets() {
	for n, b := range snap.Group.Bindings {
		held := state.Previous(snap.Objects, snap.Group, b)
		for h, host := range b.Hosts {
			snap.Choices[n][h].Sets = held[host.Name]
		}
	}
}

// Undeployed returns the documents that differ from the release of a snapshot, ordered by
// path. It returns none if nothing is deployed. It also returns none for names, which are
// released as they are written, and for documents and apps of an orchestrator.
func (s *Reader) Undeployed(ctx context.Context, snap *Snapshot) ([]intent.UndeployedDocument, error) {
	owner := intent.Path(snap.Owner)
	orchestrated := snap.Lifecycle.Orchestrated() || s.Inputs.ExternallyManaged != nil && s.Inputs.ExternallyManaged(owner) != nil
	if !snap.Lifecycle.Deployed() || orchestrated || intent.IsName(owner) {
		return nil, nil
	}
	return state.RetryOnConflict(ctx, owner, func(ctx context.Context) ([]intent.UndeployedDocument, error) {
		return s.Inputs.Undeployed(ctx, owner, snap.Inputs, snap.Group.Project.Namespace)
	})
}

// undeployedRecord returns a provider that differs from what is deployed of it.
func undeployedRecord(doc intent.Document, l state.RecordLifecycle) ([]intent.UndeployedDocument, error) {
	same, err := l.Deploys(doc)
	if err != nil || same || !l.Deployed {
		return nil, err
	}
	return []intent.UndeployedDocument{{Path: doc.Path, Change: intent.InputChanged, Revision: l.Record.Revision, Current: doc.Revision}}, nil
}
