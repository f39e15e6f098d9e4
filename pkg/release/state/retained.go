package state

import (
	"context"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Names go by themselves, too, when nothing offers them an address any more. An account
// that all replicas share (pkg/release/removal/guard) counts how many of a record's names
// have gone so. A step of a whole group charges it before it writes, and compares it when
// it writes. If too many would go, they stay as they are published until somebody asks
// for it, or they are offered again.

// RetainedNames says of how many names of a record a group keeps the addresses published
// although nothing offers them any more.
type RetainedNames struct {
	Record intent.Path `json:"record"`
	Names  int         `json:"names"`          // 0: those that somebody has asked for are going
	Since  time.Time   `json:"since,omitzero"` // when the first of them would have gone; zero without names
}

// Held is a host name that stays published by a provider.
type Held struct{ Host, Provider string }

// TakenAway says whether what is published now is a drained cluster's, or may be
// that of a Service whose namespace has become another project's.
func TakenAway(in address.Input) bool {
	if slices.ContainsFunc(in.Offers, func(o address.Offer) bool { return o.Foreign }) {
		return true
	}
	var drained []address.Offer
	for _, offer := range in.Offers {
		if offer.Standing.Drained {
			offer.Standing.Drained = false
			drained = append(drained, offer)
		}
	}
	if len(drained) == 0 {
		return false
	}
	in.Offers, in.Routing, in.Health = drained, intent.Routing{}, nil // it may be published though another cluster would be healthier
	otherwise, _ := address.Fold(in)
	return slices.ContainsFunc(in.Previous, func(set address.Set) bool {
		return slices.ContainsFunc(otherwise.Targets(set.Type), func(target string) bool { return slices.Contains(set.Targets, target) })
	})
}

// RetainedOf says which names of a record stay without an address.
func (l *Lifecycle) RetainedOf(record intent.Path) RetainedNames {
	for _, h := range l.Retained {
		if h.Record == record {
			return h
		}
	}
	return RetainedNames{Record: record}
}

// ExpectRemovals notes that names of a record are going that somebody has asked for. The slice may be another lifecycle's, too.
func (l *Lifecycle) ExpectRemovals(record intent.Path) {
	if !slices.ContainsFunc(l.Retained, func(h RetainedNames) bool { return h.Record == record }) {
		l.Retained = append(slices.Clip(l.Retained), RetainedNames{Record: record})
	}
}

// StillRetained keeps what a step of the group has kept, as far as is known without
// one.
func (l *Lifecycle) StillRetained(g plan.Group) func(context.Context, map[string]NameSet) (map[string]NameSet, error) {
	return func(_ context.Context, lost map[string]NameSet) (map[string]NameSet, error) {
		kept := map[string]NameSet{}
		for name, hosts := range lost {
			if l.RetainedOf(intent.Join("projects", g.Project.Name, "dns-update-records", name)).Names > 0 {
				kept[name] = hosts
			}
		}
		return kept, nil
	}
}
