package render

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// aName is a DNSEndpoint with one name.
func aName(ttl int64, targets ...string) bundle.Bundle {
	return bundle.Bundle{{Published: &bundle.Published{Record: "lab", Names: []bundle.PublishedName{{Name: "www.example", Host: "www.example", Type: "A", Targets: targets, TTL: ttl}}}}}
}

func TestAReleaseTellsOfATTL(t *testing.T) {
	t.Parallel()
	const name, group intent.Path = "projects/shop/names/www.example", "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	owner := name
	turns := func(released bool, before, after bundle.Bundle) []intent.NameChanges {
		return Desired{Context: appcontext.Context{Objects: after}}.Turns(owner, state.Lifecycle{Seq: 2, Wanted: intent.Update}, before, released, time.Unix(1, 0))
	}
	ttl := &intent.TTLTurn{Before: 300, After: 60}
	alone := turns(true, aName(300, "192.0.2.1"), aName(60, "192.0.2.1"))
	require.Len(t, alone, 1)
	require.Equal(t, alone[0].Before, alone[0].After, "the targets stay")
	require.Equal(t, []intent.TargetChange{{Type: "A", Provider: "lab", TTL: ttl}}, alone[0].Turns[0].Changes)
	require.Equal(t, intent.CauseRelease, alone[0].Turns[0].Cause.Reason)
	both := turns(true, aName(300, "192.0.2.1"), aName(60, "192.0.2.2"))
	require.Equal(t, []intent.TargetChange{{Type: "A", Provider: "lab", Added: []string{"192.0.2.2"}, Removed: []string{"192.0.2.1"}, TTL: ttl}}, both[0].Turns[0].Changes)
	require.Empty(t, turns(false, aName(300, "192.0.2.1"), aName(60, "192.0.2.1")), "of no release")
	same := turns(true, aName(60, "192.0.2.1"), aName(60, "192.0.2.1"))
	require.Equal(t, intent.Cause{Reason: intent.CauseRelease, Action: intent.Update, Release: 2, Message: "its targets did not change at once"}, same[0].Turns[0].Cause)
	require.Empty(t, same[0].Turns[0].Changes)
	owner = group
	require.Empty(t, turns(true, aName(60, "192.0.2.1"), aName(60, "192.0.2.1")), "a group has many names")
}

// TestWhatNobodyOffersIsToldAtOnce: all targets that a name loses, and the Services that are gone.
func TestWhatNobodyOffersIsToldAtOnce(t *testing.T) {
	t.Parallel()
	d := Desired{contents: Contents{
		bindings: []plan.Binding{{Namespace: "shop", Service: "web", Hosts: []plan.Host{{Name: "www.example"}}}},
		Choices:  [][]address.Choice{{{Absent: []string{"edge+one", "edge+two"}}}},
	}}
	changes := d.Turns("projects/shop/names/www.example", state.Lifecycle{}, aName(60, "192.0.2.1", "192.0.2.2"), false, time.Unix(1, 0))
	require.Equal(t, "no cluster offers it 192.0.2.1, 192.0.2.2 any more; there is no Service shop/web on edge/one, edge/two", changes[0].Turns[0].Cause.Message)
}

func TestEachAddressIsToldUnderTheClusterThatOffersIt(t *testing.T) {
	t.Parallel()
	by := &byCause{of: map[string]*intent.NameTurn{}}
	key := state.NameKey{Name: "www.example", Kind: "A", Record: "lab"}
	offer := func(cluster string) intent.Cause { return intent.Cause{Reason: intent.CauseAddress, Cluster: cluster} }
	for _, one := range []struct{ cluster, removed, added string }{{"", "192.0.2.9", ""}, {"edge+one", "", "192.0.2.1"}, {"edge+two", "", "192.0.2.2"}, {"edge+two", "", "192.0.2.3"}} {
		c := by.change(offer(one.cluster), "www.example", key)
		if one.removed != "" {
			c.Removed = append(c.Removed, one.removed)
		} else {
			c.Added = append(c.Added, one.added)
		}
	}
	require.Len(t, by.order, 2)
	require.Equal(t, "edge+one", by.order[0].Cause.Cluster)
	require.Equal(t, []intent.TargetChange{{Type: "A", Provider: "lab", Removed: []string{"192.0.2.9"}, Added: []string{"192.0.2.1"}}}, by.order[0].Changes)
	require.Equal(t, "edge+two", by.order[1].Cause.Cluster)
	require.Equal(t, []string{"192.0.2.2", "192.0.2.3"}, by.order[1].Changes[0].Added)
}

func TestAPlanTellsOfATTL(t *testing.T) {
	t.Parallel()
	before, after := aName(300, "192.0.2.1")[0], aName(60, "192.0.2.1")[0]
	got := NameChanges([]bundle.Change{{Before: before.Published, After: after.Published}}, nil, nil)
	require.Len(t, got, 1)
	require.Equal(t, []any{"update", int64(300), int64(60)}, []any{got[0].Action, got[0].TTLBefore, got[0].TTL})
	got = NameChanges([]bundle.Change{{Before: after.Published, After: after.Published}}, nil, nil)
	require.Equal(t, "unchanged", got[0].Action)
}

func TestAClusterThatWasDrainedBeforeIsNotWhyAnAddressGoes(t *testing.T) {
	t.Parallel()
	drained := func(clusters ...string) []address.Choice {
		var c address.Choice
		for _, cluster := range clusters {
			c.Rejected = append(c.Rejected, intent.Rejection{Target: "192.0.2.1", Cluster: cluster, Code: address.Drained})
		}
		return []address.Choice{c}
	}
	one := turning{drained: []string{"edge+austin"}}
	require.Equal(t, "edge+madrid", one.removed(drained("edge+austin", "edge+madrid"), "192.0.2.1").Cluster)
	require.Equal(t, "edge+austin", one.removed(drained("edge+austin"), "192.0.2.1").Cluster)
	require.Equal(t, intent.CauseAddress, one.removed(drained("edge+austin"), "192.0.2.2").Reason)
}
