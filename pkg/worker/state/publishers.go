package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
)

// Publisher is an external-dns of ours, with the DNSEndpoints that it is to
// publish as the ledger says they were applied.
type Publisher struct {
	Mark
	Deployment string // its name
	Endpoints  []Endpoint
}

// Endpoint is a DNSEndpoint as it was applied: what the probes need of its entry.
type Endpoint struct {
	ID         bundle.ID
	UID        string
	Generation int64
	Stages     *intent.Stages // not changed any more
}

// Mark is what an external-dns, its pods and its DNSEndpoints have in common.
type Mark struct {
	Namespace, Project, Record, Scope string
}

// Labels are those of the pods.
func (m Mark) Labels() map[string]string {
	return map[string]string{bundle.LabelProject: m.Project, bundle.LabelRecord: m.Record, bundle.LabelScope: m.Scope}
}

// Metric names the external-dns in metrics.
func (m Mark) Metric() metrics.ExternalDNS {
	return metrics.ExternalDNS{Project: m.Project, Record: m.Record, Scope: m.Scope}
}

// MarkOf is the mark of an external-dns or a DNSEndpoint, by its labels.
func MarkOf(id bundle.ID, want *Wanted) Mark {
	labels := want.Marks.Labels
	return Mark{
		Namespace: id.Namespace, Project: labels[bundle.LabelProject],
		Record: labels[bundle.LabelRecord], Scope: labels[bundle.LabelScope],
	}
}

// isExternalDNS tells whether an object is the Deployment of a record, or its built-in
// publisher.
func isExternalDNS(id bundle.ID, want *Wanted) bool {
	return (cluster.KindOf(id) == deploymentKind() || id.IsPublisher()) && want.Marks.Labels[bundle.LabelRecord] != ""
}

// publishers finds the external-dns that are wanted and applied, ordered by
// namespace and name.
func (p *Picture) publishers() []Publisher {
	var out []Publisher
	endpoints := map[Mark][]Endpoint{}
	for id, e := range p.Ledger.Entries() {
		want := p.Desired.Object(id)
		switch {
		case want == nil || !e.CreatedByUs:
		case isExternalDNS(id, want):
			out = append(out, Publisher{Mark: MarkOf(id, want), Deployment: id.Name})
		case id.IsEndpoint():
			mark := MarkOf(id, want)
			endpoints[mark] = append(endpoints[mark], Endpoint{ID: id, UID: e.UID, Generation: e.Generation, Stages: e.Stages})
		}
	}
	for i := range out {
		out[i].Endpoints = endpoints[out[i].Mark]
		slices.SortFunc(out[i].Endpoints, func(a, b Endpoint) int { return bundle.Compare(a.ID, b.ID) })
	}
	slices.SortFunc(out, func(a, b Publisher) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Deployment, b.Deployment))
	})
	return out
}

// Key is the Deployment as "namespace/name".
func (p Publisher) Key() string { return p.Namespace + "/" + p.Deployment }
