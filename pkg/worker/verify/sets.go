package verify

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

type nameKey struct{ name, kind string }

// sets are the targets of a name and type, by set identifier.
type sets map[string][]string

// namesOf are what a DNSEndpoint publishes, with targets as servers answer them.
func namesOf(p *bundle.Published) map[nameKey]sets {
	out := map[nameKey]sets{}
	if p == nil {
		return out
	}
	for _, n := range p.Names {
		key := nameKey{n.Name, n.Type}
		if out[key] == nil {
			out[key] = sets{}
		}
		for _, target := range n.Targets {
			out[key][n.ID] = append(out[key][n.ID], answered(n.Type, target))
		}
	}
	return out
}

// answered is how servers answer a target.
func answered(kind, target string) string {
	if kind == "TXT" {
		return externaldns.ReadText(target)
	}
	return strings.TrimSuffix(target, ".")
}

// all are the targets of all sets, ordered.
func (s sets) all() []string {
	var out []string
	for _, targets := range s {
		out = append(out, targets...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
