package render

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// maxListed is how many bytes the objects have that a plan lists, without their
// diffs.
const maxListed = 4 << 20

// Objects are changes as plans show them. Objects beyond the room are counted, unchanged
// ones first. Objects of built-in publishers are in no cluster, and not listed. The error is that of a context that ends before the diffs are made.
func Objects(ctx context.Context, changes []bundle.Change) ([]intent.ObjectChange, *intent.ObjectCounts, error) {
	objects, texts := []intent.ObjectChange{}, Diffs{}
	var left *intent.ObjectCounts
	changes = slices.DeleteFunc(slices.Clone(changes), func(c bundle.Change) bool { return intent.IsPublisher(c.ID.Cluster) })
	listed := fitting(changes, maxListed)
	for n, c := range changes {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if listed[n] {
			objects = append(objects, objectChange(c, texts.Of(c)))
			continue
		}
		if left == nil {
			left = &intent.ObjectCounts{}
		}
		count(left, c.Action)
	}
	return objects, left, nil
}

// fitting tells which changes are listed: as many as there is room for, those that
// change something before the others.
func fitting(changes []bundle.Change, room int) []bool {
	const others = 150 // bytes of an object in a list, beside what names it
	listed := make([]bool, len(changes))
	for _, unchanged := range []bool{false, true} {
		for n, c := range changes {
			if (c.Action == bundle.Unchanged) != unchanged {
				continue
			}
			if room -= others + len(c.ID.Cluster) + len(c.ID.Kind) + len(c.ID.Namespace) + len(c.ID.Name); room < 0 {
				return listed
			}
			listed[n] = true
		}
	}
	return listed
}

func count(counts *intent.ObjectCounts, action bundle.Action) {
	switch action {
	case bundle.Create:
		counts.Create++
	case bundle.Update:
		counts.Update++
	case bundle.Delete:
		counts.Delete++
	case bundle.Unchanged:
		counts.Unchanged++
	}
}

// objectChange is a change of an object as plans show it.
func objectChange(c bundle.Change, diff string) intent.ObjectChange {
	return intent.ObjectChange{
		Cluster: c.ID.Cluster, Action: string(c.Action), Kind: c.ID.Kind, Namespace: c.ID.Namespace, Name: c.ID.Name, Diff: diff,
	}
}

// NameChanges reads the changes of names out of the changes of DNSEndpoints. A pending
// name that no DNSEndpoint holds is created without targets, or stays so if its owner has it already. A name that another group
// publishes until this one does is changed, or stays, and is not created.
func NameChanges(changes []bundle.Change, pending map[state.NameKey]bool, given map[state.NameKey][]string) []intent.NameChange {
	before, after := map[state.NameKey][]string{}, map[state.NameKey][]string{}
	for _, c := range changes {
		state.CollectNames(c.Before, before)
		state.CollectNames(c.After, after)
	}
	published := map[state.NameKey]bool{}
	for key := range after {
		key.Kind = ""
		published[key] = true
	}
	addGiven(before, after, published, given)
	for key, has := range pending {
		if published[key] {
			continue
		}
		key.Kind = "A"
		after[key] = nil
		if _, loses := before[key]; has && !loses {
			before[key] = nil
		}
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.SortFunc(keys, state.CompareNames)
	var out []intent.NameChange
	ttlBefore, ttl := ttlsOf(changes)
	for _, key := range slices.Compact(keys) {
		change := nameChange(key, before, after)
		change.TTL, change.TTLBefore = ttl[key], ttlBefore[key]
		_, known := ttlBefore[key] // not of a name that another owner gives
		if change.Action == "unchanged" && known && change.TTL != change.TTLBefore && len(change.Targets) > 0 {
			change.Action = "update"
		}
		out = append(out, change)
	}
	return out
}

// ttlsOf are the TTLs of names before and after some changes.
func ttlsOf(changes []bundle.Change) (before, after map[state.NameKey]int64) {
	before, after = map[state.NameKey]int64{}, map[state.NameKey]int64{}
	for _, c := range changes {
		collectTTLs(c.Before, before)
		collectTTLs(c.After, after)
	}
	return before, after
}

func collectTTLs(p *bundle.Published, into map[state.NameKey]int64) {
	if p == nil {
		return
	}
	for _, n := range p.Names {
		key := state.NameKey{Name: n.Name, Kind: n.Type, Record: p.Record}
		into[key] = max(into[key], n.TTL)
	}
}

// addGiven has what another group publishes be there before: until this group has
// addresses for a name, the other one goes on.
func addGiven(before, after map[state.NameKey][]string, published map[state.NameKey]bool, given map[state.NameKey][]string) {
	for key, targets := range given {
		at := state.NameKey{Name: key.Name, Record: key.Record}
		_, was := before[key]
		_, is := after[key]
		switch {
		case !was && is:
			before[key] = targets
		case !was && !published[at]:
			before[key], after[key] = targets, targets
		}
	}
	for key := range given {
		published[state.NameKey{Name: key.Name, Record: key.Record}] = true
	}
}

func nameChange(key state.NameKey, before, after map[state.NameKey][]string) intent.NameChange {
	old, was := before[key]
	wanted, is := after[key]
	change := intent.NameChange{Name: key.Name, Type: key.Kind, Record: key.Record, Targets: []string{}, Before: old}
	change.Targets = append(change.Targets, wanted...)
	switch {
	case !is:
		change.Action, change.Targets = "delete", append(change.Targets, old...)
	case !was:
		change.Action = "create"
	case slices.Equal(old, wanted):
		change.Action = "unchanged"
	default:
		change.Action = "update"
	}
	return change
}
