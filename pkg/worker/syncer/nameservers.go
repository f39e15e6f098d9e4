package syncer

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// nameserver is a DaemonSet of a DNS CR intent: DNS pods, or the node resolver
// beside them.
type nameserver struct {
	namespace, daemonSet string
	labels               map[string]string // of its pods
}

func (n nameserver) key() string { return n.namespace + "/" + n.daemonSet }

// isNameserver tells whether an object is a DaemonSet of a DNS CR intent, which
// belongs to a logical cloud and to none of its groups.
func isNameserver(id bundle.ID, want *wanted) bool {
	labels := want.marks.Labels
	return cluster.KindOf(id) == daemonSetKind() && labels[bundle.LabelLogicalCloud] != "" && labels[bundle.LabelDIG] == ""
}

// nameservers finds those that are wanted and applied, ordered by namespace and
// name. Their pods carry the labels that they have, but for the marks of what
// Signpost itself applies.
func (t *clusterWorker) nameservers() []nameserver {
	var out []nameserver
	for id, e := range t.entries {
		want := t.desired.objects[id]
		if want == nil || !e.CreatedByUs || !isNameserver(id, want) {
			continue
		}
		n := nameserver{namespace: id.Namespace, daemonSet: id.Name, labels: map[string]string{}}
		for label, value := range want.marks.Labels {
			if label != bundle.LabelManagedBy && label != bundle.LabelInstallation {
				n.labels[label] = value
			}
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b nameserver) int { return strings.Compare(a.key(), b.key()) })
	return out
}
