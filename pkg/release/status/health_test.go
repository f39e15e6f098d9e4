package status_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// TestANameSaysWhatHealthDid: in the words of its condition Synced, behind what
// else that says; and nothing where all are healthy.
func TestANameSaysWhatHealthDid(t *testing.T) {
	snap := running(t)
	require.Equal(t, "the DNSEndpoint is applied", synced(t, snap))
	snap.Choices[0][0].Health = []string{"edge+paris is left out: the Service has no ready endpoint", "2 of 3 clusters cannot be reached"}
	require.Equal(t, "the DNSEndpoint is applied; edge+paris is left out: the Service has no ready endpoint; 2 of 3 clusters cannot be reached", synced(t, snap))
	choose(t, snap)
	snap.Choices[0][0].Health = []string{"no cluster is healthy, and nothing is published yet; the name is published when a cluster is healthy"}
	require.Equal(t, "there is no address to publish; no cluster is healthy, and nothing is published yet; the name is published when a cluster is healthy", synced(t, snap))
}

// synced is the message of the first name's condition Synced.
func synced(t *testing.T, snap *query.Snapshot) string {
	t.Helper()
	for _, c := range status.Of(*snap).Names[0].Conditions {
		if c.Type == "Synced" {
			return c.Message
		}
	}
	require.FailNow(t, "no name has a condition Synced")
	return ""
}
