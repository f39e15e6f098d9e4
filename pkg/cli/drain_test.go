package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
)

const drainedBody = `{"drained":{"since":"2026-11-02T09:31:07Z","actor":"alice"}}`

func TestDrainAndUndrain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST cluster-providers/edge/clusters/berlin/drain", 202, "ClusterDrained", drainedBody)
	f.on("POST cluster-providers/edge/clusters/berlin/undrain", 202, "ClusterDrained", `{}`)
	require.Equal(t, result{exitDone, "edge/berlin drained\n", ""}, signpost(t, f.url, "drain", "edge/berlin"))
	require.Equal(t, result{exitDone, "edge/berlin undrained\n", ""}, signpost(t, f.url, "undrain", "edge/berlin"))
}

func TestDrainThatWouldEmptyANameIsRefusedUnlessForced(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST cluster-providers/edge/clusters/berlin/drain", 409, "Problem",
		`{"type":"about:blank","title":"Conflict","status":409,"detail":"edge+berlin has the last addresses of www.lab.example"}`)
	f.on("POST cluster-providers/edge/clusters/berlin/drain?force=true", 202, "ClusterDrained", drainedBody)
	got := signpost(t, f.url, "drain", "edge/berlin")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "the last addresses of www.lab.example")
	require.Equal(t, exitDone, signpost(t, f.url, "drain", "edge/berlin", "--force").code)
}

func TestDrainWantsACluster(t *testing.T) {
	t.Parallel()
	require.Equal(t, exitUsage, signpost(t, "http://127.0.0.1:1", "drain").code)
	require.Equal(t, exitUsage, signpost(t, "http://127.0.0.1:1", "drain", "berlin").code)
	require.Equal(t, exitUnreachable, signpost(t, "http://127.0.0.1:1", "undrain", "edge/berlin").code)
}

// TestAnUnknownClusterLeadsToTheKnownOnes: the error names the one that was meant, or the command that lists them.
func TestAnUnknownClusterLeadsToTheKnownOnes(t *testing.T) {
	t.Parallel()
	service := startService(t, func(*app.Config) {})
	require.Equal(t, exitDone, signpost(t, service.url, "apply", "-f", quickstart).code)
	for _, c := range []struct{ cluster, err string }{
		{"edge/hbu", "; did you mean edge/hub?\n  signpost get cluster-providers/edge/clusters lists the clusters of edge\n"},
		{"egde/hub", "; did you mean edge/hub?\n  signpost get cluster-providers lists the cluster providers\n"},
		{"edge/somewhere-else", "\n  signpost get cluster-providers/edge/clusters lists the clusters of edge\n"},
		{"nobody/somewhere-else", "\n  signpost get cluster-providers lists the cluster providers\n"},
	} {
		for _, command := range []string{"drain", "undrain", "preflight", "abandon"} {
			got := signpost(t, service.url, command, c.cluster)
			require.Equal(t, exitFailed, got.code, got.out)
			require.Contains(t, got.err, c.err, command)
		}
	}
	require.Equal(t, exitDone, signpost(t, service.url, "get", "cluster-providers/edge/clusters").code, "the command works")
	require.Contains(t, signpost(t, service.url, "drain", "edge/hbu", "--preview").err, "edge/hbu is not registered; did you mean edge/hub?")
	require.Contains(t, signpost(t, service.url, "drain", "a/b", "--preview").err, "a/b is not registered; registered are edge")
}
