package status

import (
	"cmp"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// publication is what is known of the names of a binding at the DNS provider. They share a DNSEndpoint.
type publication struct {
	snap   query.Snapshot
	by     query.ProviderReport
	id     bundle.ID          // of the DNSEndpoint
	entry  ledger.Entry       // likewise
	seen   observed.Published // of the DNSEndpoint, in some state
	dryRun bool
}

// publicationOf is that of a binding.
func publicationOf(snap query.Snapshot, b plan.Binding) publication {
	by, _ := providerOf(snap, b)
	id, spec := endpointOf(snap, b), by.Record.Spec
	return publication{
		snap: snap, by: by, id: id, entry: snap.Clusters[b.Cluster].Entries[id], seen: by.Published[id.Name],
		dryRun: externaldns.DryRun(spec.Parameters, spec.Environment, spec.ExtraArgs),
	}
}

// published judges whether a name of a binding is at the DNS provider. It is if
// external-dns is available, and has synchronized since it read the present DNSEndpoint.
// If that cannot be observed it is Unknown (I6).
func (p publication) published(b plan.Binding, host plan.Host, choice address.Choice, synced intent.StatusCondition) intent.StatusCondition {
	by := p.by
	switch {
	case !choice.Some():
		return p.says("False", "NoAddress", noAddress(b, host, choice))
	case len(endpoints.Sets(host, choice)) == 0:
		return p.says("False", "NoAddress", "none of its addresses is of a type that its recordTypes allow; allow A for IPv4, AAAA for IPv6 or CNAME for host names")
	case by.Record.Spec.Suspend:
		return p.says("False", "Suspended", suspendedRecord)
	case p.dryRun:
		return p.says("False", "DryRun", "dry-run is set: external-dns changes nothing")
	case by.Cluster.Abandoned != nil:
		return p.says("Unknown", "ClusterAbandoned", "the cluster of its external-dns, "+b.Cluster+", is abandoned: the name stays as it is until another external-dns takes it over", by.Cluster.Abandoned.Since)
	case by.Observed == nil && intent.IsPublisher(b.Cluster):
		return p.says("Unknown", "NotObserved", "the built-in publisher has not begun yet")
	case by.Observed == nil:
		return p.says("Unknown", "NotObserved", "external-dns cannot be observed on "+b.Cluster)
	case unreachable(by.Cluster):
		return p.says("Unknown", "ClusterUnreachable", "the home of external-dns, "+b.Cluster+", cannot be reached: "+by.Cluster.Reachability.Message, by.Cluster.Reachability.Since)
	case !by.Observed.Available && p.put():
		return p.says("False", "ExternalDNSNotAvailable", cmp.Or(by.Observed.Message, p.who()+" is not available"), by.Observed.Since)
	case !by.Observed.Available:
		return p.says("False", "ExternalDNSNotAvailable", cmp.Or(by.Observed.Message, p.who()+" is not available"), p.entry.Since)
	case p.snap.Suspended:
		return p.says("Unknown", "Suspended", suspendedGroup)
	case synced.Status != "True":
		return p.says("False", "NotSynced", synced.Message, synced.LastTransitionTime)
	}
	return p.through()
}

// put tells whether external-dns has put the DNSEndpoint through as it was
// applied.
func (p publication) put() bool { return p.seen.Of(p.entry.UID, p.entry.Generation) }

// who names the program that publishes.
func (p publication) who() string {
	if intent.IsPublisher(p.by.Use.Cluster) {
		return "the built-in publisher"
	}
	return "external-dns"
}

// what names the object that the program reads. The built-in publisher has none in a cluster.
func (p publication) what() string {
	if intent.IsPublisher(p.by.Use.Cluster) {
		return "the name"
	}
	return "the DNSEndpoint"
}

// noAddress says why there is nothing to publish and what to do, cluster by cluster, in the words of the list of names. It is more
// general if a cluster may have an address, as far as that is not told address by address.
func noAddress(b plan.Binding, host plan.Host, choice address.Choice) string {
	if len(host.Targets) > 0 {
		return noneOf(choice.Rejected)
	}
	const general = "no cluster has an address that may be published"
	service := "Service " + b.Namespace + "/" + b.Service
	lacks, all := lacksOf(b, host, choice)
	var texts []string
	for why, clusters := range lacks {
		if len(clusters) > 0 {
			texts = append(texts, address.Lack(why).Tell(service, state.Few(clusters), len(clusters) > 1, b.Scope))
		}
	}
	if all {
		return strings.Join(texts, "; ")
	}
	texts = append([]string{general}, texts...)
	if len(choice.Foreign) > 0 {
		texts = append(texts, "namespace "+b.Namespace+" of "+strings.Join(intent.ClusterWords(choice.Foreign), ", ")+" belongs to another project: give the intent another namespace, or terminate the group")
	}
	if len(choice.Unknown) > 0 {
		texts = append(texts, "the addresses of "+service+" on "+strings.Join(intent.ClusterWords(choice.Unknown), ", ")+" are not known yet")
	}
	return strings.Join(texts, "; ")
}

// noneOf says of fixed addresses why they are not published.
func noneOf(rejected []intent.Rejection) string {
	texts := make([]string, len(rejected))
	for n, r := range rejected {
		texts[n] = r.Target + " (" + r.Reason + ")"
	}
	return "none of its addresses may be published: " + state.Few(texts)
}

// lacksOf are the clusters of a name by what they lack, and whether that is known of all of them.
func lacksOf(b plan.Binding, host plan.Host, choice address.Choice) (by [address.Lacks][]string, all bool) {
	if len(host.Targets) > 0 {
		return by, false // fixed addresses are of no cluster
	}
	sources := host.Sources
	if len(sources) == 0 {
		sources = b.Sources
	}
	all = len(sources) > 0
	for _, cluster := range sources {
		why := choice.LackIn(cluster, b.Scope)
		if why == 0 {
			all = false
			continue
		}
		by[why] = append(by[why], intent.ClusterWord(cluster))
	}
	return by, all
}

// says makes the condition, which holds since the latest of the times.
func (p publication) says(status, reason, message string, since ...time.Time) intent.StatusCondition {
	c := condition(p.snap, "Published", status, reason, message)
	for _, at := range since {
		c.LastTransitionTime = later(c.LastTransitionTime, at)
	}
	return c
}

// through judges by what external-dns tells of its synchronizations.
func (p publication) through() intent.StatusCondition {
	sync := p.by.Observed.Sync
	policy := externaldns.Value(p.by.Record.Spec.Parameters, "policy")
	switch {
	case p.put() && policy == "create-only" && p.entry.Generation > 1:
		return p.says("Unknown", "CreateOnly", "external-dns has synchronized, and its policy create-only does not change existing names", p.seen.At)
	case p.put():
		c := p.says("True", "Published", p.who()+" synchronized at "+p.seen.At.Format(time.RFC3339)+", after it had read "+p.what())
		c.LastTransitionTime = later(p.seen.At, p.by.Observed.Since) // also before this release, which left the DNSEndpoint as it was
		return c
	case sync == nil:
		return p.says("Unknown", "NotObserved", p.who()+" has not synchronized since it was asked for the name", p.entry.Since)
	case sync.Unread != "":
		return p.says("Unknown", "NotObserved", "the last synchronization of external-dns is not known: "+sync.Unread, p.entry.Since)
	case sync.Failing != "":
		return p.says("False", "SynchronizationFails", p.who()+" failed to synchronize "+p.what()+": "+sync.Failing, p.entry.Since)
	}
	return p.says("False", "NotSynchronizedYet", p.who()+" has not synchronized yet since "+p.what()+" changed", p.entry.Since)
}

// endpointOf is the DNSEndpoint that holds a binding's names.
func endpointOf(snap query.Snapshot, b plan.Binding) bundle.ID { return endpoints.ID(snap.Group, b) }

func unreachable(report query.ClusterReport) bool {
	return report.Reachability != nil && !report.Reachability.Reachable
}
