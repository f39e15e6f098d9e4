// Package status tells users where a deployment intent group stands, name by
// name and object by object. It is a pure projection of what the release says
// and of what was observed, and claims nothing else (I6).
package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// Of projects a group's snapshot.
func Of(snap query.Snapshot) intent.Status {
	l := snap.Lifecycle
	s := intent.Status{
		State: l.State(), ContextID: l.ContextID, Revision: l.Seq, Message: message(snap), Leftovers: l.Leftovers,
		Conditions: []intent.StatusCondition{}, Clusters: []intent.ClusterStatus{},
		Providers: []intent.ProviderStatus{}, Names: []intent.NameStatus{},
	}
	if e := snap.AppContext; e != nil {
		s.AppContext = &intent.AppContextStatus{ID: e.ID, State: e.State, Message: e.Why}
	}
	if l.Seq == 0 {
		return s
	}
	for _, name := range slices.Sorted(maps.Keys(snap.Clusters)) {
		if intent.IsPublisher(name) {
			continue
		}
		if c := cluster(snap, name); len(c.Resources) > 0 || looked(snap, name) {
			s.Clusters = append(s.Clusters, c)
		}
	}
	for _, p := range snap.Providers {
		s.Providers = append(s.Providers, Provider(p))
	}
	s.Names, s.DNS, s.Undeployed = names(snap), dns(snap), snap.Undeployed
	s.Conditions = overall(snap, s)
	return s
}

// Brief projects what a list tells of a group.
func Brief(snap query.Snapshot) intent.GroupSummary {
	l := snap.Lifecycle
	out := intent.GroupSummary{Path: intent.Path(snap.Owner), State: l.State(), Release: l.Seq, Undeployed: len(snap.Undeployed), Message: message(snap)}
	if l.Deployed() {
		out.Names = l.Names
	}
	return out
}

// Briefs projects what a page of a list tells. idle tells that no worker is running.
func Briefs(page query.GroupPage, idle bool) intent.GroupSummaryPage {
	out := intent.GroupSummaryPage{Items: []intent.GroupSummary{}, Continue: page.Continue}
	for _, snap := range page.Groups {
		snap.Idle = idle
		out.Items = append(out.Items, Brief(snap))
	}
	return out
}

// message is what stands in the way of the whole group.
func message(snap query.Snapshot) string {
	why := cmp.Or(snap.Lifecycle.Failure, snap.Lifecycle.Unaccepted())
	if snap.Suspended {
		why = cmp.Or(snap.Lifecycle.Failure, suspendedGroup)
	}
	if snap.Idle {
		why = strings.TrimSuffix(noWorker+"; "+why, "; ")
	}
	return why
}

const (
	noWorker        = "no worker is running: clusters are shown as last observed, until one runs"
	suspendedGroup  = "the deployment intent group is suspended: clusters keep their objects until suspend is false"
	suspendedRecord = "the provider is suspended: external-dns does not run, and names stay as they are, until suspend is false and the provider is updated"
)

// looked tells whether a cluster is looked at, or is going to be. Nobody looks
// at one in which nothing is to be served any more, and nothing is said of it.
func looked(snap query.Snapshot, name string) bool {
	report := snap.Clusters[name]
	uses := func(b plan.Binding) bool { return b.Cluster == name || slices.Contains(b.Sources, name) }
	waits := snap.Lifecycle.Wanted != intent.Terminate && slices.ContainsFunc(snap.Group.Bindings, uses)
	return waits || report.Reachability != nil || report.Abandoned != nil
}

// cluster reports the group's own objects on one cluster: those that the
// current context holds, and those that are still to go.
func cluster(snap query.Snapshot, name string) intent.ClusterStatus {
	report := snap.Clusters[name]
	ref, _ := intent.ParseCluster(name)
	out := intent.ClusterStatus{ClusterRef: ref, Message: "not contacted yet", Resources: []intent.ResourceStatus{}}
	if seen := report.Reachability; seen != nil {
		out.Reachable, out.Message = seen.Reachable, seen.Message
	}
	if isInventory(snap, name) {
		out.Message = "Signpost does not connect to it: " + intent.Monitor + " tells its addresses"
	}
	if given := report.Abandoned; given != nil {
		out.Reachable, out.Message = false, fmt.Sprintf("abandoned by %s at %s: Signpost does not serve it or wait for it", given.Actor, given.Since.Format(time.RFC3339))
	}
	for _, o := range snap.Objects {
		if o.Cluster == name {
			out.Resources = append(out.Resources, object(snap.Owner, o, report))
		}
	}
	for _, o := range snap.Going {
		if e, there := report.Entries[o.ID]; there && o.Cluster == name && e.Going && e.Held() {
			out.Resources = append(out.Resources, resource(o.ID, e.Status, cmp.Or(e.Message, "to be deleted")))
		}
	}
	slices.SortFunc(out.Resources, func(a, b intent.ResourceStatus) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}

func isInventory(snap query.Snapshot, name string) bool {
	return slices.ContainsFunc(snap.Group.Clusters, func(c plan.Cluster) bool { return c.Name == name && c.Inventory })
}

// object reports one wanted object: Applied only if it was applied as it is
// now.
func object(owner appcontext.Owner, o bundle.Object, report query.ClusterReport) intent.ResourceStatus {
	if e, known := report.Entries[o.ID]; known {
		status, message := e.Progress(string(owner), o.Digest())
		return resource(o.ID, status, message)
	}
	switch {
	case report.Abandoned != nil:
		return resource(o.ID, ledger.Failed, "the cluster is abandoned")
	case unreachable(report):
		return resource(o.ID, ledger.Retrying, "the cluster cannot be reached")
	}
	return resource(o.ID, ledger.Pending, "")
}

func resource(id bundle.ID, status ledger.Status, message string) intent.ResourceStatus {
	return intent.ResourceStatus{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name, Status: string(status), Message: message}
}

// versionOf is the version of external-dns, or of the Signpost whose built-in publisher was last seen; empty: none was.
func versionOf(p query.ProviderReport) string {
	switch {
	case !intent.IsPublisher(p.Use.Cluster):
		return p.Record.Version
	case p.Observed == nil || p.Observed.Sync == nil:
		return ""
	}
	return p.Observed.Sync.Version
}

// Provider projects one external-dns.
func Provider(p query.ProviderReport) intent.ProviderStatus {
	out := intent.ProviderStatus{
		Record: p.Use.Record.Name(), Cluster: intent.HomeWord(p.Use.Cluster), Scope: p.Use.Scope, Version: versionOf(p),
	}
	if p.Cluster.Abandoned != nil {
		out.Message = "its cluster is abandoned: published names stay as they are until another external-dns takes them over"
		return out
	}
	messages := lacking(p)
	if p.Record.Spec.Suspend {
		messages = append(messages, suspendedRecord)
	}
	if p.Waiting {
		messages = append(messages, "the provider moves here: external-dns starts when its names have followed")
	}
	if p.Draining {
		messages = append(messages, outlives(p))
	}
	if len(p.Objects) == 0 {
		messages = append(messages, "not committed yet")
	}
	messages = append(messages, health(p, &out)...)
	out.Message = strings.Join(messages, "; ")
	return out
}

// health tells what was observed of an external-dns. Whether it is available
// is not known while its cluster cannot be reached.
func health(p query.ProviderReport, out *intent.ProviderStatus) []string {
	if p.Observed == nil {
		return nil
	}
	messages := []string{p.Observed.Message}
	if sync := p.Observed.Sync; sync != nil {
		if !sync.Last.IsZero() {
			out.LastSync = &sync.Last
		}
		if !strings.HasSuffix(p.Observed.Message, ": "+sync.Failing) { // else that says it
			messages = append(messages, sync.Failing)
		}
		messages = append(messages, sync.Zone)
		if p.Observed.Message == "" { // else that says why
			messages = append(messages, sync.Unread)
		}
	}
	if unreachable(p.Cluster) {
		messages = append(messages, "its cluster cannot be reached: this is its last observed state")
	} else {
		out.Available = &p.Observed.Available
	}
	return slices.DeleteFunc(messages, func(text string) bool { return text == "" })
}

// outlives says how long an external-dns that nobody uses stays.
func outlives(p query.ProviderReport) string {
	const why = "it stays until its names are removed"
	if p.Until.IsZero() {
		return why
	}
	return fmt.Sprintf("%s: it waits for these until no authoritative server answers them, at the latest until %s (releaseTimeout)", why, p.Until.UTC().Format(time.RFC3339))
}

// publisherOf says what publishes the names of a provider.
func publisherOf(p query.ProviderReport) string {
	if intent.IsPublisher(p.Use.Cluster) {
		return "the built-in publisher"
	}
	return "external-dns"
}

// lacking describes the objects of an external-dns that are not applied: the
// first one, and how many more there are.
func lacking(p query.ProviderReport) []string {
	var messages []string
	for _, o := range p.Objects {
		if r := object(p.Owner, o, p.Cluster); r.Status != applied {
			messages = append(messages, strings.TrimSuffix(r.Kind+" "+r.Name+" is "+r.Status+": "+r.Message, ": "))
		}
	}
	if more := len(messages) - 1; more > 0 {
		return []string{fmt.Sprintf("%s; %d more of its objects are not applied either", messages[0], more)}
	}
	return messages
}

const applied = string(ledger.Applied)

// OfRecord projects a record's snapshot. Its warnings are those that come of
// others, and not those of the document by itself.
func OfRecord(snap query.RecordSnapshot) intent.RecordStatus {
	l := snap.Lifecycle
	s := intent.RecordStatus{
		Home: intent.HomeOf(l.Record.Home), OwnerID: l.Record.OwnerID, Version: l.Record.Version, Revision: l.Seq,
		Providers: []intent.ProviderStatus{}, Deployments: []intent.Deployment{}, Adoption: l.Adopting, Warnings: snap.Warnings, Undeployed: snap.Undeployed,
	}
	if l.Record.Spec.DeployOn.BuiltIn() {
		s.Version = ""
	}
	for _, p := range snap.Providers {
		ref, _ := intent.ParseCluster(p.Use.Cluster)
		if intent.IsPublisher(p.Use.Cluster) {
			s.Version = versionOf(p)
		}
		s.Providers = append(s.Providers, Provider(p))
		s.Deployments = append(s.Deployments, intent.Deployment{
			Scope: p.Use.Scope, Home: *intent.HomeOf(&ref), OwnerID: p.OwnerID, Version: versionOf(p),
		})
	}
	return s
}
