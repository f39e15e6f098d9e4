package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
)

// Publisher is an external-dns of ours.
type Publisher struct {
	Mark
	Deployment string // its name
}

// Endpoint is a DNSEndpoint as it was applied: what the probes need of its entry.
type Endpoint struct {
	UID        string
	Generation int64
	Stages     *ledger.Stages // not changed any more
}

// Applied is a DNSEndpoint as it was applied, for the external-dns of a Mark.
type Applied struct {
	Mark
	Endpoint
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
	for id := range p.Ledger.few {
		want := p.Desired.Object(id)
		if want != nil && p.Ledger.Entries()[id].CreatedByUs && isExternalDNS(id, want) {
			out = append(out, Publisher{Mark: MarkOf(id, want), Deployment: id.Name})
		}
	}
	slices.SortFunc(out, func(a, b Publisher) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Deployment, b.Deployment))
	})
	return out
}

// applied is a DNSEndpoint that is wanted, as the ledger says that it was applied; nil: there is none.
func (p *Picture) applied(id bundle.ID) *Applied {
	want := p.Desired.Object(id)
	e, known := p.Ledger.Entries()[id]
	if want == nil || !known || !e.CreatedByUs {
		return nil
	}
	return &Applied{MarkOf(id, want), Endpoint{UID: e.UID, Generation: e.Generation, Stages: e.Stages}}
}

// Key is the Deployment as "namespace/name".
func (p Publisher) Key() string { return p.Namespace + "/" + p.Deployment }
