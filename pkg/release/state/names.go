package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Union is what clusters make of the objects of several owners. If these differ, the
// first counts.
func Union(owners ...bundle.Bundle) bundle.Bundle {
	all := slices.Concat(owners...)
	slices.SortStableFunc(all, func(a, b bundle.Object) int { return bundle.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b bundle.Object) bool { return a.ID == b.ID })
}

// Owner is the owner of the external-dns' app contexts.
func (u Use) Owner() appcontext.Owner {
	return appcontext.ProviderOwner(string(u.Record), string(u.Scope), u.Cluster)
}

// GroupOwner is the owner of a group's app contexts.
func GroupOwner(path intent.Path) appcontext.Owner { return appcontext.Owner(path) }

// NameKey identifies a published name; the type is empty where no address is
// known yet.
type NameKey struct{ Name, Kind, Record string }

// CompareNames orders names by name, type, then provider.
func CompareNames(a, b NameKey) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Record, b.Record))
}

// CollectNames adds the names and targets that a DNSEndpoint publishes; nil: none.
func CollectNames(p *bundle.Published, into map[NameKey][]string) {
	if p == nil {
		return
	}
	for _, n := range p.Names {
		key := NameKey{Name: n.Name, Kind: n.Type, Record: p.Record}
		into[key] = slices.Compact(slices.Sorted(slices.Values(append(into[key], n.Targets...))))
	}
}

// RecordPath is the document of a binding's provider.
func RecordPath(g plan.Group, b plan.Binding) intent.Path {
	return intent.Join("projects", g.Project.Name, "dns-update-records", b.Record)
}

// Few lists the first names of many.
func Few(names []string) string {
	const most = 3
	if extra := len(names) - most; extra > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), extra)
	}
	return strings.Join(names, ", ")
}

// MaxRemoval is how many percent of a record's names may go at once.
func MaxRemoval(r plan.Record) int {
	if most := r.Spec.MaxRemoval; most != nil {
		return int(*most)
	}
	return guard.Default
}

// Raise is the advice for removals that an orchestrator asks for, because it cannot confirm them.
const Raise = intent.OrchestratorName + " cannot confirm that; raise the record's maxRemoval and update the record, then try again"

// NameSet is a set of host names.
type NameSet map[string]bool

// CurrentEndpoints are Signpost's DNSEndpoints in a group's current context.
func (s *Store) CurrentEndpoints(ctx context.Context, group intent.Path) (bundle.Bundle, error) {
	objects, err := s.Contexts.CurrentObjects(ctx, GroupOwner(group))
	return slices.DeleteFunc(objects, func(o bundle.Object) bool { return o.Published == nil }), err
}

// DefinitionKind is the kind of what makes a kind known. It may be in use by
// others, so it is never deleted.
const DefinitionKind = "CustomResourceDefinition"

// NameRecorder keeps the past of host names. Its methods never wait, and several may call
// them at once.
type NameRecorder interface {
	// Changed notes changes of what is published, after they were written.
	Changed(changes ...intent.NameChanges)
	// Heard notes what authoritative servers answer.
	Heard(heard ...intent.NameHeard)
}

// RecordNames has changes of host names noted, unless nobody keeps them.
func RecordNames(by NameRecorder, changes []intent.NameChanges) {
	if by != nil && len(changes) > 0 {
		by.Changed(changes...)
	}
}
