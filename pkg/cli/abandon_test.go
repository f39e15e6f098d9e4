package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAbandonListsWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+hubPath+"/abandon", 200, "ClusterAbandoned", example(t, "clusterAbandoned"))
	got := signpost(t, f.url, "abandon", "edge/hub")
	require.Equal(t, exitDone, got.code)
	require.Equal(t, `edge/hub abandoned; 3 objects left there

KIND        NAMESPACE  NAME
Namespace   -          shop-dns
ConfigMap   shop       settings
Deployment  shop-dns   external-dns-lab
`, got.out)
	require.JSONEq(t, example(t, "clusterAbandoned"), signpost(t, f.url, "abandon", "edge+hub", "-o", "json").out)
}

func TestAbandonOfWhatWasNeverUsed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+hubPath+"/abandon", 200, "ClusterAbandoned", `{"leftBehind":[]}`)
	require.Equal(t, result{exitDone, "edge/hub abandoned; 0 objects left there\n", ""}, signpost(t, f.url, "abandon", "edge/hub"))
}

func TestAbandonThatWouldEmptyANameIsRefusedUnlessForced(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+hubPath+"/abandon", 409, "Problem",
		`{"type":"about:blank","title":"Conflict","status":409,"detail":"edge+hub has the last addresses of www.lab.example"}`)
	f.on("POST "+hubPath+"/abandon?force=true", 200, "ClusterAbandoned", `{"leftBehind":[]}`)
	got := signpost(t, f.url, "abandon", "edge/hub")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "the last addresses of www.lab.example")
	require.Equal(t, exitDone, signpost(t, f.url, "abandon", "edge/hub", "--force").code)
}

func TestAbandonWantsACluster(t *testing.T) {
	t.Parallel()
	require.Equal(t, exitUsage, signpost(t, "http://127.0.0.1:1", "abandon").code)
	require.Equal(t, exitUsage, signpost(t, "http://127.0.0.1:1", "abandon", "berlin").code)
	require.Equal(t, exitUnreachable, signpost(t, "http://127.0.0.1:1", "abandon", "edge/berlin").code)
}
