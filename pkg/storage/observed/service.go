package observed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// SetService writes the observation of a Service of the cluster, if it changed; o.Changed
// is when it was seen. Readiness is damped. Unread parts stay as they were, and so do the
// addresses of a host name that has none now. They are not known to be gone (I11).
func (w *Writer) SetService(ctx context.Context, namespace, name string, o address.Observation) error {
	key := ServiceKey(address.Service{Cluster: w.cluster, Namespace: namespace, Name: name})
	before, known := w.service(key)
	seen := o.Changed
	o.Readiness = w.damp(key, before.Readiness, o.Readiness, seen)
	o.Candidates = remembering(before, o)
	if known {
		o.Changed = before.Changed
		if raw, err := json.Marshal(o); err != nil || bytes.Equal(raw, w.stored.of(key)) {
			return err
		}
	}
	o.Changed = seen
	return w.set(ctx, key, o)
}

// Risen lists the Services ("namespace/name") that count as ready from now on, if they are set again.
func (w *Writer) Risen(now time.Time) []string { return w.risen(servicePrefix(w.cluster), now) }

// risen lists what is held below a prefix, and counts as ready from now on if it is set again.
func (w *Writer) risen(prefix string, now time.Time) []string {
	var names []string
	for key, h := range w.held {
		if name, is := strings.CutPrefix(key, prefix); is && !h.until.After(now) {
			names = append(names, name)
		}
	}
	return names
}

// Due is the first time after now at which a Service that is seen as before is
// to be set again; zero: none is.
func (w *Writer) Due(now time.Time) time.Time {
	var next time.Time
	for _, h := range w.held {
		if h.until.After(now) && (next.IsZero() || h.until.Before(next)) {
			next = h.until
		}
	}
	return next
}

// service is what was last written of a Service.
func (w *Writer) service(key string) (o address.Observation, known bool) {
	raw := w.stored.of(key)
	if raw == nil || json.Unmarshal(raw, &o) != nil {
		return address.Observation{}, false
	}
	return o, true
}

// remembering are the candidates that are seen now, and of what cannot be seen
// those that were there before.
func remembering(before, now address.Observation) []address.Candidate {
	if !now.Found {
		return now.Candidates
	}
	candidates := slices.Clone(now.Candidates)
	for i, c := range candidates {
		n := slices.IndexFunc(before.Candidates, func(b address.Candidate) bool { return b.Target == c.Target })
		if len(c.Resolved) == 0 && n >= 0 {
			candidates[i].Resolved = before.Candidates[n].Resolved
		}
	}
	for _, c := range before.Candidates {
		if _, unseen := now.Unseen[c.Kind]; unseen {
			candidates = append(candidates, c)
		}
	}
	kinds := address.Kinds()
	slices.SortStableFunc(candidates, func(a, b address.Candidate) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	return candidates
}
