package syncer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
)

// publisher is an external-dns of ours, with the DNSEndpoints that it is to
// publish as the ledger says they were applied.
type publisher struct {
	mark
	deployment string // its name
	endpoints  []ledger.Entry
}

// mark is what an external-dns, its pods and its DNSEndpoints have in common.
type mark struct {
	namespace, project, record, scope string
}

func (m mark) labels() map[string]string {
	return map[string]string{bundle.LabelProject: m.project, bundle.LabelRecord: m.record, bundle.LabelScope: m.scope}
}

func (m mark) metric() metrics.ExternalDNS {
	return metrics.ExternalDNS{Project: m.project, Record: m.record, Scope: m.scope}
}

func markOf(id bundle.ID, want *wanted) mark {
	labels := want.marks.Labels
	return mark{
		namespace: id.Namespace, project: labels[bundle.LabelProject],
		record: labels[bundle.LabelRecord], scope: labels[bundle.LabelScope],
	}
}

// isExternalDNS tells whether an object is the Deployment of a record.
func isExternalDNS(id bundle.ID, want *wanted) bool {
	return cluster.KindOf(id) == deploymentKind() && want.marks.Labels[bundle.LabelRecord] != ""
}

// publishers finds the external-dns that are wanted and applied, ordered by
// namespace and name.
func (t *clusterWorker) publishers() []publisher {
	var out []publisher
	endpoints := map[mark][]ledger.Entry{}
	for id, e := range t.entries {
		want := t.desired.objects[id]
		switch {
		case want == nil || !e.CreatedByUs:
		case isExternalDNS(id, want):
			out = append(out, publisher{mark: markOf(id, want), deployment: id.Name})
		case id.IsEndpoint():
			endpoints[markOf(id, want)] = append(endpoints[markOf(id, want)], e)
		}
	}
	for i := range out {
		out[i].endpoints = endpoints[out[i].mark]
		slices.SortFunc(out[i].endpoints, func(a, b ledger.Entry) int { return bundle.Compare(a.ID, b.ID) })
	}
	slices.SortFunc(out, func(a, b publisher) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.deployment, b.deployment))
	})
	return out
}

// key is the Deployment as "namespace/name".
func (p publisher) key() string { return p.namespace + "/" + p.deployment }
