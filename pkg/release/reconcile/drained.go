package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// drainedClusters records events of a group for the clusters of its public names that have been
// drained or undrained since the last step. It notes those whose Services are another project's, too.
func (s *Reconciler) drainedClusters(_ context.Context, on *step) (state.Outcome, error) {
	l := &on.lifecycle
	if on.next.Ground == nil {
		l.Drained, l.Foreign = nil, nil
		return state.Onward, nil
	}
	l.Foreign = on.next.Foreign()
	now := s.Now().UTC()
	var drained []string
	for _, cluster := range publicClusters(on.next.Ground) {
		known := slices.Contains(l.Drained, cluster)
		by, is := on.next.Ground.Drained.Clusters[cluster]
		if is {
			drained = append(drained, cluster)
		}
		switch {
		case is && !known:
			l.Record(intent.Event{Time: now, Actor: by.Actor, Action: intent.Drain, Revision: l.Seq, Outcome: "completed",
				Message: cluster + " is drained since " + by.Since.UTC().Format(time.RFC3339) + ": public names have none of its addresses" + by.Because()})
		case known && !is:
			by := undrainedBy(on.next.Ground.Drained, cluster)
			l.Record(intent.Event{Time: now, Actor: by.Actor, Action: intent.Undrain, Revision: l.Seq, Outcome: "completed",
				Message: cluster + " is drained no longer: public names may have its addresses again" + by.Because()})
		}
	}
	l.Drained = drained
	return state.Onward, nil
}

// undrainedBy is who undrained a cluster, as far as that is remembered. Signpost
// itself forgets a drained cluster with its document.
func undrainedBy(list state.DrainedList, cluster string) intent.Drained {
	if by := list.Undrained[cluster].Undrained; by != nil {
		return *by
	}
	return intent.Drained{Actor: intent.Itself}
}

// publicClusters are the clusters whose addresses the public names of a group may have,
// in order.
func publicClusters(on *render.Inputs) []string {
	var clusters []string
	for _, b := range on.Group.Bindings {
		if b.Scope == intent.Public && b.Service != "" {
			clusters = append(clusters, b.Sources...)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}
