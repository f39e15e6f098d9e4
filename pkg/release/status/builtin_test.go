package status_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/release/status"
)

// TestTheClusterOfTheBuiltInPublisherIsInNoText, because users have none of that name, and no DNSEndpoint.
func TestTheClusterOfTheBuiltInPublisherIsInNoText(t *testing.T) {
	t.Parallel()
	const publisher = "_publisher.shop+lab"
	for _, target := range []string{"203.0.113.10", "10.1.2.3"} {
		snap := running(t)
		choose(t, snap, target)
		for n := range snap.Choices[0][0].Rejected {
			snap.Choices[0][0].Rejected[n].Cluster = publisher
		}
		snap.Clusters = maps.Clone(snap.Clusters)
		snap.Group.Bindings[0].Cluster, snap.Providers[0].Use.Cluster, snap.Clusters[publisher] = publisher, publisher, snap.Clusters[hub]
		text, err := json.Marshal(status.OfName(*snap))
		require.NoError(t, err)
		require.NotContains(t, string(text), "_publisher")
		require.NotContains(t, string(text), "DNSEndpoint ")
		require.NotContains(t, string(text), "external-dns")
	}
}
