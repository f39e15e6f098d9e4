package status_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/status"
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
