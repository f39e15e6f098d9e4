package address

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// mostProbed is how many addresses of a name are probed.
const mostProbed = 64

// examineProbes finds out why a target does not count by what probes say; empty: it
// does. A host name does not count if none of its addresses does.
func (f *fold) examineProbes(e entry) (ill code, detail string) {
	targets := e.Resolved
	if e.ip.IsValid() {
		targets = []string{e.target}
	}
	for _, target := range targets {
		if detail = f.failing(target); detail == "" {
			return "", ""
		}
	}
	if detail == "" {
		return "", ""
	}
	return probeFailed, detail
}

// failing says since when, and from where, probes of an address fail; empty: they do not.
func (f *fold) failing(target string) string {
	probe, known := f.Probed[plain(target)]
	if !known || probe.Healthy != "False" {
		return ""
	}
	text := " from " + probe.From + " fails"
	if !probe.Since.IsZero() {
		text += " since " + probe.Since.UTC().Format(time.RFC3339)
	}
	if probe.Message != "" {
		text += ": " + probe.Message
	}
	return text
}

// plain is an address in its shortest form.
func plain(text string) string {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	return ip.WithZone("").Unmap().String()
}

// subject is what is left out with an entry: its cluster, or the address alone.
func (e entry) subject() string {
	if e.ill == probeFailed {
		return e.target
	}
	return e.Service.Cluster
}

// probes are the addresses that the name could have, with what probes say of them.
func (f *fold) probes() []intent.ProbeStatus {
	if f.Health == nil || f.Health.Probe == nil {
		return nil
	}
	var targets []string
	for _, e := range f.offered {
		switch {
		case e.ip.IsValid():
			targets = append(targets, e.target)
		default:
			for _, ip := range e.Resolved {
				if address, err := netip.ParseAddr(ip); err == nil && f.refuse(address.WithZone("").Unmap()) == "" {
					targets = append(targets, plain(ip))
				}
			}
		}
	}
	slices.SortFunc(targets, strings.Compare)
	targets = slices.Compact(targets)
	if len(targets) > mostProbed {
		f.warn("%d addresses could be published, and probes are made of the first %d; the others count as healthy", len(targets), mostProbed)
		targets = targets[:mostProbed]
	}
	out := make([]intent.ProbeStatus, len(targets))
	for n, target := range targets {
		out[n] = intent.ProbeStatus{Target: target, Healthy: "Unknown"}
		if known, ok := f.Probed[target]; ok {
			out[n] = known
		}
	}
	return out
}
