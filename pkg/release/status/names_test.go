package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// TestANameOfSeveralSetsIsListedOnce: with the targets of all, and each set by
// its identifier and weight.
func TestANameOfSeveralSetsIsListedOnce(t *testing.T) {
	snap := running(t)
	snap.Group.Bindings[0].Hosts[0].Routing = intent.Routing{Policy: intent.Weighted, Weights: map[string]int64{berlin: 90, "edge+paris": 10}}
	snap.Choices[0][0] = address.Choice{Sets: []address.Set{
		{Type: "A", Targets: []string{"203.0.113.20"}, ID: berlin, Weight: 90},
		{Type: "A", Targets: []string{"203.0.113.10"}, ID: "edge+paris", Weight: 10},
		{Type: "AAAA", Targets: []string{"2001:db8::1"}, ID: "edge+paris", Weight: 10},
	}}
	names := status.Of(*snap).Names
	require.Len(t, names, 2)
	require.Equal(t, []string{"203.0.113.10", "203.0.113.20"}, names[0].Targets)
	require.Equal(t, []intent.SetStatus{
		{SetIdentifier: berlin, Weight: 90, Targets: []string{"203.0.113.20"}},
		{SetIdentifier: "edge+paris", Weight: 10, Targets: []string{"203.0.113.10"}},
	}, names[0].Sets)
	require.Equal(t, "AAAA", names[1].Type)
	require.Len(t, names[1].Sets, 1)
}

// TestServicesAreNamesOfTheirOwn: an SRV record stands below the host's name.
func TestServicesAreNamesOfTheirOwn(t *testing.T) {
	snap := running(t)
	snap.Group.Bindings[0].Hosts[0] = plan.Host{Name: "www.lab.example", Types: []string{"A", "SRV"}}
	snap.Choices[0][0].Sets = append(snap.Choices[0][0].Sets, address.Set{Name: "_https._tcp.www.lab.example", Type: "SRV", Targets: []string{"0 0 443 www.lab.example."}})
	names := status.Of(*snap).Names
	require.Len(t, names, 2)
	require.Equal(t, "_https._tcp.www.lab.example SRV", names[0].Name+" "+names[0].Type)
	require.Equal(t, []string{"0 0 443 www.lab.example."}, names[0].Targets)
	require.Equal(t, "www.lab.example A", names[1].Name+" "+names[1].Type)
	require.Empty(t, names[1].Sets, "one set needs no identifier")
}

// TestANameThatMayNotGoSaysWhyItStays: RemovalFrozen, since when, and what to do;
// the group says so, too, and other names do not.
func TestANameThatMayNotGoSaysWhyItStays(t *testing.T) {
	snap := running(t)
	snap.Group.Bindings[0].Hosts = append(snap.Group.Bindings[0].Hosts, plan.Host{Name: "zoo.lab.example"})
	choose(t, snap, "203.0.113.10")
	publish(snap)
	require.Equal(t, "True", condition(t, status.Of(*snap), "Synced").Status)

	frozen := settled().Add(time.Hour)
	snap.Choices[0][0].Kept = true
	snap.Lifecycle.Retained = []state.RetainedNames{{Record: lab, Names: 6, Since: frozen}}
	now := status.Of(*snap)
	require.Equal(t, "Planned=True/Accepted Committed=True/Current Synced=False/RemovalFrozen Published=True/Published Verified=Unknown/NotAsked", summary(now.Names[0].Conditions))
	require.Equal(t, []string{"203.0.113.10"}, now.Names[0].Targets)
	require.Contains(t, summary(now.Names[1].Conditions), "Synced=True/Applied")
	synced := condition(t, now, "Synced")
	require.Equal(t, now.Names[0].Conditions[2], synced)
	require.Equal(t, frozen, synced.LastTransitionTime)
	require.Contains(t, synced.Message, `no address of www.lab.example exists any more. The name stays published, because more names of provider "lab" would be removed at once than its maxRemoval allows`)
	require.Contains(t, synced.Message, "update and confirm it with the plan's token")

	snap.Choices[0][0].Sources, snap.Choices[0][0].Absent = nil, snap.Group.Bindings[0].Sources
	require.Contains(t, condition(t, status.Of(*snap), "Synced").Message, "no address of www.lab.example exists any more: there is no Service ")
}

// TestWhatOthersHaveTakenOverIsTold: it is no name of the group's any more, which
// its intents still ask for.
func TestWhatOthersHaveTakenOverIsTold(t *testing.T) {
	const taker intent.Path = "projects/shop/composite-apps/store/v2/deployment-intent-groups/prod"
	for _, c := range []struct {
		reason, want, message string
		names                 bool
		free                  bool
	}{
		{"nothing else is published", "Published=True/GivenUp", "old.lab.example was taken over by " + string(taker) + "; likewise 1 more", false, false},
		{"nobody publishes it", "Published=False/GivenUp", "old.lab.example was taken over by " + string(taker) + ", which is gone: an update publishes it again; likewise 1 more", false, true},
		{"beside other names", "Published=True/Published", "; old.lab.example was taken over by " + string(taker), true, false},
		{"nobody publishes it, beside others", "Published=False/GivenUp", ", which is gone: an update publishes it again", true, true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := running(t)
			if !c.names {
				snap.Group.Bindings, snap.Choices = nil, nil
			}
			snap.GivenUp = []sharing.GivenUp{{Name: "old.lab.example", To: taker, Free: c.free}, {Name: "api.lab.example", To: taker}}
			s := status.Of(*snap)
			require.Contains(t, summary(s.Conditions), c.want)
			require.Contains(t, condition(t, s, "Published").Message, c.message)
		})
	}
}
