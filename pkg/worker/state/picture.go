package state

import (
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Picture is what is wanted in one cluster, and what the ledger says was put there.
// The goroutine that steps the cluster is the only one that uses it.
type Picture struct {
	*Cluster
	Desired *Desired
	Ledger  *Ledger

	subjects derived[*Subjects]
	how      derived[how]
	interest derived[cluster.Interest]
}

// derived is what follows from the objects that are wanted and from the ledger alone, but
// not from single DNSEndpoints: there may be very many. It is not made again while what counts
// of these is as it was.
type derived[T any] struct {
	made            bool
	desired, ledger int64 // how often these had changed
	value           T
}

// of answers the value, and whether it was made again. ledger counts the changes of the
// ledger that matter for it.
func (d *derived[T]) of(p *Picture, ledger int64, derive func() T) (value T, again bool) {
	if d.made && d.desired == p.Desired.changes && d.ledger == ledger {
		return d.value, false
	}
	*d = derived[T]{true, p.Desired.changes, ledger, derive()}
	return d.value, true
}

// Subjects are the objects of Signpost's that are to be observed.
type Subjects struct {
	Deployments, DaemonSets []string // "namespace/name"
	Publishers              []Publisher
	Nameservers             []Nameserver
}

// Publish tells the observing goroutines which workloads are Signpost's, and what has changed of
// what the external-dns among them are to publish.
func (p *Picture) Publish() {
	applied := map[bundle.ID]*Applied{}
	ids, _ := p.stale.applied.Take()
	for id := range ids {
		if id.IsEndpoint() {
			applied[id] = p.applied(id)
		}
	}
	subjects, _ := p.subjects.of(p, p.Ledger.changes, func() *Subjects {
		return &Subjects{
			Deployments: append(p.Ledger.ours(deploymentKind()), p.Ledger.ours(publisherKind())...), DaemonSets: p.Ledger.ours(daemonSetKind()),
			Publishers: p.publishers(), Nameservers: p.nameservers(),
		}
	})
	p.SetSubjects(subjects, applied)
}

// Follow tells the watches what to see: the kinds of all objects that may be Signpost's,
// and the namespaces whose Services matter. It names the pods beside external-dns or
// nameservers, too. The nodes are watched if a placement is held against them.
func (p *Picture) Follow() {
	interest, _ := p.interest.of(p, p.Ledger.turns, p.ours)
	interest.Namespaces, interest.Nodes = p.Index.Watched(p.Name)
	if w := p.Watches(); w != nil {
		w.Follow(interest)
	}
}

// ours are the kinds of Signpost's objects, and the namespaces of pods that are observed.
func (p *Picture) ours() cluster.Interest {
	homes := map[string]bool{}
	for id := range p.Ledger.few {
		if want := p.Desired.Object(id); want != nil && (isExternalDNS(id, want) || isNameserver(id, want)) {
			homes[id.Namespace] = true
		}
	}
	return cluster.Interest{Pods: slices.Sorted(maps.Keys(homes)), Kinds: slices.Collect(maps.Keys(p.Ledger.kinds))}
}

func deploymentKind() cluster.Kind { return cluster.Kind{Group: "apps", Kind: "Deployment"} }

// publisherKind is observed as a Deployment of external-dns is.
func publisherKind() cluster.Kind {
	return cluster.Kind{Group: bundle.PublisherGroup, Kind: bundle.PublisherKind}
}

func daemonSetKind() cluster.Kind { return cluster.Kind{Group: "apps", Kind: "DaemonSet"} }

// Findings are what the probes have found.
type Findings struct {
	Trouble     map[string]string         // what keeps pods from running, by Deployment
	Sync        map[string]*observed.Sync // by Deployment
	Nameservers map[string]Finding        // by DaemonSet
}

// Published is what has changed of the DNSEndpoints ("namespace/name") that were seen to be published.
type Published struct {
	Changed map[string]*observed.Published // nil: it is not to be published any more
	All     map[string]bool                // the first time, all that are to be published: what is stored of others is to be forgotten; else nil
}

// Add adds what has changed since.
func (p *Published) Add(next Published) {
	if next.All != nil {
		*p = Published{All: next.All}
	}
	if p.Changed == nil {
		p.Changed = map[string]*observed.Published{}
	}
	maps.Copy(p.Changed, next.Changed)
}

// Finding is what a probe has found about a nameserver.
type Finding struct {
	Trouble string        // what keeps a pod from running
	DNS     *observed.DNS // nil: not known
}
