package status

import (
	"cmp"
	"time"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release"
)

// published judges whether the names of a binding are at the DNS provider:
// external-dns is available, and has synchronized since it read the DNSEndpoint
// as it is now. Where that cannot be observed it is Unknown (I6).
func published(snap release.Snapshot, b plan.Binding, choice address.Choice, synced intent.StatusCondition) intent.StatusCondition {
	says := func(status, reason, message string) intent.StatusCondition {
		return condition(snap, "Published", status, reason, message)
	}
	p, _ := providerOf(snap, b)
	spec := p.Record.Spec
	switch {
	case !choice.Some():
		return says("False", "NoAddress", "no cluster offers an address that may be published")
	case !publishes(b, choice):
		return says("False", "NoAddress", "no cluster offers an address of the recordTypes that the intent allows")
	case spec.Suspend:
		return says("False", "Suspended", suspendedRecord)
	case externaldns.DryRun(spec.Parameters, spec.Environment, spec.ExtraArgs):
		return says("False", "DryRun", "the record's external-dns runs dry: it makes no changes")
	case p.Cluster.Abandoned != nil:
		return says("Unknown", "ClusterAbandoned", "the cluster of its external-dns, "+b.Cluster+", is abandoned: the name stays as it is until another external-dns takes it over")
	case p.Observed == nil:
		return says("Unknown", "NotObserved", "external-dns cannot be observed on "+b.Cluster)
	case unreachable(p.Cluster):
		return says("Unknown", "ClusterUnreachable", "the home of external-dns, "+b.Cluster+", cannot be reached: "+p.Cluster.Reachability.Message)
	case !p.Observed.Available:
		return says("False", "ExternalDNSNotAvailable", cmp.Or(p.Observed.Message, "external-dns is not available"))
	case snap.Suspended:
		return says("Unknown", "Suspended", suspendedGroup)
	case synced.Status != "True":
		return says("False", "NotSynced", synced.Message)
	}
	return through(snap, b, p, says)
}

// through tells whether external-dns has put the DNSEndpoint through as it was
// applied.
func through(snap release.Snapshot, b plan.Binding, p release.ProviderReport, says func(status, reason, message string) intent.StatusCondition) intent.StatusCondition {
	id, sync := endpointOf(snap, b), p.Observed.Sync
	entry, seen := snap.Clusters[b.Cluster].Entries[id], p.Published[id.Name]
	policy, _ := p.Record.Spec.Parameters["policy"].(string)
	switch {
	case seen.Of(entry.UID, entry.Generation) && policy == "create-only" && entry.Generation > 1:
		return says("Unknown", "CreateOnly", "external-dns has synchronized, and its policy create-only leaves names that exist as they are")
	case seen.Of(entry.UID, entry.Generation):
		c := says("True", "Published", "external-dns synchronized at "+seen.At.Format(time.RFC3339)+", after it had read the DNSEndpoint")
		c.LastTransitionTime = seen.At
		return c
	case sync == nil:
		return says("Unknown", "NotObserved", "external-dns was not asked yet when it last synchronized")
	case sync.Unread != "":
		return says("Unknown", "NotObserved", "when external-dns last synchronized is not known: "+sync.Unread)
	case sync.Failing != "":
		return says("False", "SynchronizationFails", "external-dns has not put the DNSEndpoint through yet: "+sync.Failing)
	}
	return says("False", "NotSynchronizedYet", "external-dns has not synchronized yet since the DNSEndpoint changed")
}

// endpointOf is the DNSEndpoint that holds a binding's names.
func endpointOf(snap release.Snapshot, b plan.Binding) bundle.ID {
	return bundle.ID{
		Cluster: b.Cluster, Group: endpoints.APIGroup, Kind: endpoints.Kind,
		Namespace: snap.Group.Project.Namespace, Name: endpoints.Name(snap.Group, b),
	}
}

func unreachable(report release.ClusterReport) bool {
	return report.Reachability != nil && !report.Reachability.Reachable
}
