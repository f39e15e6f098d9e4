package status_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// share has another app of the group, or of another one, give the same name.
func share(snap *query.Snapshot, group intent.Path, ttl int64) {
	other := snap.Group
	other.Path = group
	twin := snap.Group.Bindings[0]
	twin.App, twin.Service, twin.Hosts = "api", "api", []plan.Host{{Name: "www.lab.example", TTL: ttl}}
	other.Bindings = []plan.Binding{twin}
	if group == prod {
		snap.Group.Bindings = append(snap.Group.Bindings, twin)
		snap.Choices = append(snap.Choices, []address.Choice{{}})
		other.Bindings = nil
	}
	snap.Publishers = sharing.PublishersOf(snap.Group, other)
}

func TestANameThatSeveralAppServicesAreGivenIsPublishedAsExternalDNSDoes(t *testing.T) {
	const test = prod + "2"
	for _, c := range []struct {
		name, version string
		ttl           int64
		want, message string
	}{
		{"all addresses", "v0.22.0", 0, "True/Published", `; the name is also published by service "api" of app "api" of ` + string(test) + ""},
		{"one of them, by their ttl", "v0.22.0", 30, "Unknown/Shared", "their ttl differs"},
		{"one of them, by the version", "v0.20.0", 0, "Unknown/Shared", "external-dns v0.20.0 publishes only the addresses of one of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			snap := running(t)
			snap.Providers[0].Record.Version = c.version
			share(snap, test, c.ttl)
			got := condition(t, status.Of(*snap), "Published")
			require.Equal(t, c.want, got.Status+"/"+got.Reason)
			require.Contains(t, got.Message, c.message)
		})
	}
}

// TestANameHasTheAddressesOfTheAppServicesThatHaveSome: as after a forced drain
// of the other's clusters.
func TestANameHasTheAddressesOfTheAppServicesThatHaveSome(t *testing.T) {
	snap := running(t)
	share(snap, prod, 0)
	s := status.Of(*snap)
	require.Len(t, s.Names, 2)
	require.Equal(t, []string{}, s.Names[1].Targets)
	require.Equal(t, "True/Shared", s.Names[1].Conditions[3].Status+"/"+s.Names[1].Conditions[3].Reason)
	require.Contains(t, s.Names[1].Conditions[3].Message, `Service shop/api on edge/berlin has no address yet: give it a load balancer or external IPs; the name has the addresses of service "web" of app "web"`)
	require.Equal(t, "True", condition(t, s, "Published").Status)
	require.Equal(t, s.Names[0].Conditions[4], s.Names[1].Conditions[4], "the answers are to all that give the name")

	choose(t, snap)
	snap.Choices = append(snap.Choices, []address.Choice{{}})
	require.Equal(t, "False/NoAddress", func() string {
		c := condition(t, status.Of(*snap), "Published")
		return c.Status + "/" + c.Reason
	}(), "nobody has one")
}

func TestANameOfAnotherRecordIsNotShared(t *testing.T) {
	snap := running(t)
	other := snap.Group
	other.Path = prod + "2"
	other.Bindings = []plan.Binding{snap.Group.Bindings[0]}
	other.Bindings[0].Record = "corp"
	snap.Publishers = sharing.PublishersOf(snap.Group, other)
	require.NotContains(t, condition(t, status.Of(*snap), "Published").Message, "is given to")
}
