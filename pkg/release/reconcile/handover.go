package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// handover keeps the DNSEndpoint of a provider that a name leaves, until its new provider
// has published the name. That takes the releaseTimeout of the new provider at most: in the
// same zone, it may not touch a name that the old one holds.
func (s *Reconciler) handover(ctx context.Context, on *step) (state.Outcome, error) {
	if !intent.IsName(on.group) || !on.lifecycle.Deployed() || len(on.lifecycle.Leaving) == 0 {
		return state.Onward, nil
	}
	gives := endpointsOf(on.next.Objects)
	left := slices.DeleteFunc(endpointsOf(on.before), func(o bundle.Object) bool {
		use := state.UseOf(on.group, o.Cluster, o.Published)
		same := func(u state.Use) bool { return u.Record == use.Record } // a provider that moves has its own way
		return !slices.Contains(on.lifecycle.Leaving, use) || slices.ContainsFunc(on.lifecycle.Uses, same)
	})
	if len(left) == 0 {
		return state.Onward, nil
	}
	for _, o := range gives {
		until, err := s.awaited(ctx, on, o)
		if err != nil {
			return state.Onward, err
		}
		if until.IsZero() || s.Now().Before(until) {
			if on.next.Objects, err = bundle.Collect(slices.Concat(on.next.Objects, left)); err != nil {
				return state.Onward, fmt.Errorf("a name in two providers: %w", err)
			}
			on.handing = true
			if !until.IsZero() {
				s.WakeAt(on.group, until)
			}
			return state.Onward, nil
		}
	}
	return state.Onward, nil
}

// endpointsOf are the DNSEndpoints among objects.
func endpointsOf(objects bundle.Bundle) []bundle.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o bundle.Object) bool { return o.Published == nil })
}

// awaited is until when the publication of a DNSEndpoint is waited for: zero while it is
// not applied, and the past once it is published.
func (s *Reconciler) awaited(ctx context.Context, on *step, o bundle.Object) (time.Time, error) {
	past := time.Unix(0, 0)
	if abandoned, err := s.IsAbandoned(ctx, o.Cluster); abandoned || err != nil {
		return past, err
	}
	entries, err := s.Ledger.Entries(ctx, o.Cluster, []bundle.ID{o.ID})
	if err != nil {
		return past, err
	}
	if len(entries) == 0 {
		return time.Time{}, nil
	}
	entry := entries[0]
	if progress, _ := entry.Progress(string(on.pointer.Owner), o.Digest()); progress != ledger.Applied {
		return time.Time{}, nil
	}
	seen, err := s.Observed.Published(ctx, o.Cluster, o.ID.Namespace, o.ID.Name)
	if err != nil || seen[o.ID.Name].Of(entry.UID, entry.Generation) {
		return past, err
	}
	return entry.Since.Add(state.ReleaseTimeout(on.next.Ground.Records[o.Published.Record], 1)), nil
}
