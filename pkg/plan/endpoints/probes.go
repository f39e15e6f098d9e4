package endpoints

import (
	"encoding/json"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Probe is how the addresses of a host are probed, without targets; ok is false if no
// probe is asked for.
func Probe(host plan.Host) (p bundle.Probe, ok bool) {
	if host.Health == nil || host.Health.Probe == nil {
		return p, false
	}
	spec, err := json.Marshal(host.Health.Probe.Completed(host.Name))
	return bundle.Probe{Spec: spec}, err == nil
}

// probesOf are the probes of a binding's addresses, and the annotation that has them.
// Hosts that are probed alike share a probe.
func probesOf(b plan.Binding, choices []address.Choice) ([]bundle.Probe, map[string]string, error) {
	var out []bundle.Probe
	for n, host := range b.Hosts {
		probe, ok := Probe(host)
		if !ok || len(choices[n].Probes) == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(p bundle.Probe) bool { return p.Key() == probe.Key() })
		if at < 0 {
			at, out = len(out), append(out, probe)
		}
		for _, one := range choices[n].Probes {
			out[at].Targets = append(out[at].Targets, one.Target)
		}
	}
	for n := range out {
		slices.Sort(out[n].Targets)
		out[n].Targets = slices.Compact(out[n].Targets)
	}
	if out == nil {
		return nil, nil, nil
	}
	text, err := json.Marshal(out)
	return out, map[string]string{bundle.AnnotationProbes: string(text)}, err
}
