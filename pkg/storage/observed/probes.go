package observed

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Probes is what the probes of one DNSEndpoint's addresses have found.
type Probes struct {
	Owners []string    `json:"owners"` // paths of those whose names the DNSEndpoint has
	From   string      `json:"from"`   // the replica that probes
	Of     []ProbeSeen `json:"of"`     // ordered by probe and target
}

// ProbeSeen is what a probe has found out about one address.
type ProbeSeen struct {
	Probe  string `json:"probe"` // the key of a bundle.Probe
	Target string `json:"target"`

	// State is damped as the readiness of a Service is: one of one endpoint is ready, or none
	// is. It is nil while nothing is known.
	State   *address.Readiness `json:"state,omitempty"`
	Message string             `json:"message,omitempty"` // of the failure, or why nothing is judged
}

const probeFolder = "probe"

func probePrefix(cluster string) string { return clusterPrefix(cluster) + probeFolder + "/" }

// Probes answers what the probes of a DNSEndpoint have found, by the key of the probe and
// the target. It is empty if nothing is known.
func (s *Store) Probes(ctx context.Context, cluster, namespace, endpoint string) (map[string]map[string]intent.ProbeStatus, error) {
	seen, err := read[Probes](ctx, s, probePrefix(cluster)+namespace+"/"+endpoint)
	if err != nil || seen == nil {
		return nil, err
	}
	out := map[string]map[string]intent.ProbeStatus{}
	for _, one := range seen.Of {
		if out[one.Probe] == nil {
			out[one.Probe] = map[string]intent.ProbeStatus{}
		}
		out[one.Probe][one.Target] = one.status(seen.From)
	}
	return out, nil
}

func (p ProbeSeen) status(from string) intent.ProbeStatus {
	out := intent.ProbeStatus{Target: p.Target, Healthy: "Unknown", From: from, Message: p.Message}
	if p.State != nil {
		out.Healthy, out.Since = "True", p.State.Since
		if p.State.Ready == 0 {
			out.Healthy = "False"
		}
	}
	return out
}

// SetProbes makes the probes ("namespace/name" of a DNSEndpoint) of which something is kept
// those of all. Of an address that nothing is known of now, what was last known stays. Probes that are as in the last
// call are left out, unless an address counts as answering from now on. Nobody may change all afterwards.
func (w *Writer) SetProbes(ctx context.Context, all map[string]Probes, now time.Time) error {
	under, before := probePrefix(w.cluster), w.probed
	risen := w.risen(under, now)
	if before != nil && len(risen) == 0 && maps.EqualFunc(before, all, Probes.equals) {
		return nil
	}
	w.probed = nil // until all is written
	for _, endpoint := range w.belowBut(under, func(name string) bool { _, wanted := all[name]; return wanted }) {
		w.forgetHolds(under + endpoint)
		if err := w.remove(ctx, under+endpoint); err != nil {
			return err
		}
	}
	for endpoint, probes := range all {
		if was, known := before[endpoint]; known && was.equals(probes) && !slices.ContainsFunc(risen, func(held string) bool { return strings.HasPrefix(held, endpoint+"#") }) {
			continue
		}
		if err := w.set(ctx, under+endpoint, w.damped(under+endpoint, probes, now)); err != nil {
			return err
		}
	}
	w.probed = all
	return nil
}

func (p Probes) equals(other Probes) bool {
	return p.From == other.From && slices.Equal(p.Owners, other.Owners) && slices.EqualFunc(p.Of, other.Of, ProbeSeen.equals)
}

func (p ProbeSeen) equals(other ProbeSeen) bool {
	same := p.State == other.State || p.State != nil && other.State != nil && *p.State == *other.State
	return same && p.Probe == other.Probe && p.Target == other.Target && p.Message == other.Message
}

// damped are probes with the states that count.
func (w *Writer) damped(key string, now Probes, at time.Time) Probes {
	before := map[[2]string]ProbeSeen{}
	for _, one := range last[Probes](w, key).Of {
		before[[2]string{one.Probe, one.Target}] = one
	}
	out := now
	out.Of = make([]ProbeSeen, len(now.Of))
	for n, one := range now.Of {
		was := before[[2]string{one.Probe, one.Target}]
		seen := one.State
		if seen == nil {
			one.State = was.State
		} else {
			one.State = w.damp(key+"#"+one.Probe+"#"+one.Target, was.State, seen, at)
		}
		if one.Message == "" && one.State != nil && one.State.Ready == 0 {
			one.Message = was.Message // it answers, and does not count yet
		}
		out.Of[n] = one
	}
	return out
}

func (w *Writer) forgetHolds(key string) {
	for held := range w.held {
		if strings.HasPrefix(held, key+"#") {
			delete(w.held, held)
		}
	}
}

// parseProbes tells whose names an event about probes concerns; ok is false for other
// events.
func parseProbes(event kv.Event) (owners []string, ok bool) {
	_, what, _ := strings.Cut(strings.TrimPrefix(event.Key, prefix), "/")
	if event.Deleted || !strings.HasPrefix(what, probeFolder+"/") {
		return nil, false
	}
	seen, err := decode[Probes](kv.Item{Key: event.Key, Value: event.Value})
	return seen.Owners, err == nil
}
