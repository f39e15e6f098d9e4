package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const hubPath = "cluster-providers/edge/clusters/hub"

func TestPreflightShowsWhatFails(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET "+hubPath+"/preflight", 200, "Preflight", example(t, "preflight"))
	got := signpost(t, f.url, "preflight", "edge/hub")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, "reached, Kubernetes v1.36.3; 2 of 3 checks passed\n")
	require.Contains(t, got.out, "can create deployments in shop-dns")
	require.NotContains(t, got.out, "can get namespaces", "what passes has nothing to tell")
	require.Contains(t, got.err, "1 check failed")
	require.Contains(t, signpost(t, f.url, "preflight", "edge/hub", "-o", "wide").out, "can get namespaces")
	require.JSONEq(t, example(t, "preflight"), signpost(t, f.url, "preflight", "edge+hub", "-o", "json").out)
}

func TestPreflightOfWhatCannotBeReached(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET "+hubPath+"/preflight", 200, "Preflight", `{"reachable":false,"checks":[{"name":"can be reached","ok":false,"message":"connection refused"}]}`)
	got := signpost(t, f.url, "preflight", hubPath)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, "cannot be reached; 0 of 1 check passed")
	require.Contains(t, got.out, "connection refused")
}

func TestPreflightOfWhatHasAll(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET "+hubPath+"/preflight", 200, "Preflight", `{"reachable":true,"checks":[{"name":"has its directory","ok":true,"message":""}]}`)
	got := signpost(t, f.url, "preflight", "edge/hub")
	require.Equal(t, result{exitDone, "reached; 1 of 1 check passed\n", ""}, got)
}
