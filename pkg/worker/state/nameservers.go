package state

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Nameserver is a DaemonSet of a DNS CR intent: DNS pods, or the node resolver
// beside them.
type Nameserver struct {
	Namespace, DaemonSet string
	Labels               map[string]string // of its pods
}

// Key is the DaemonSet as "namespace/name".
func (n Nameserver) Key() string { return n.Namespace + "/" + n.DaemonSet }

// isNameserver tells whether an object is a DaemonSet of a DNS CR intent, which
// belongs to a logical cloud and to none of its groups.
func isNameserver(id bundle.ID, want *Wanted) bool {
	labels := want.Marks.Labels
	return cluster.KindOf(id) == daemonSetKind() && labels[bundle.LabelLogicalCloud] != "" && labels[bundle.LabelDIG] == ""
}

// nameservers finds those that are wanted and applied, ordered by namespace and
// name. Their pods carry the labels that they have, but for the marks of what
// Signpost itself applies.
func (p *Picture) nameservers() []Nameserver {
	var out []Nameserver
	for id := range p.Ledger.few {
		want := p.Desired.Object(id)
		if want == nil || !p.Ledger.Entries()[id].CreatedByUs || !isNameserver(id, want) {
			continue
		}
		n := Nameserver{Namespace: id.Namespace, DaemonSet: id.Name, Labels: map[string]string{}}
		for label, value := range want.Marks.Labels {
			if label != bundle.LabelManagedBy && label != bundle.LabelInstallation {
				n.Labels[label] = value
			}
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b Nameserver) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}
