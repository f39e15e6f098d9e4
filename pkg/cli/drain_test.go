package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
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
