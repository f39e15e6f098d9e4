package release_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestUnknownIsNotEmpty: published addresses never shrink by ignorance (I11).
func TestUnknownIsNotEmpty(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.member(eu, "hub") // whose Service nobody has looked at yet
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	both := []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}
	require.Equal(t, both, w.published(prod))

	w.down[berlin] = true
	before := w.keys()
	w.restartOn(w.fake)
	w.settle(prod)
	require.Equal(t, before, w.keys(), "neither a restart nor an outage writes anything")
	require.Equal(t, both, w.published(prod))
	require.Equal(t, []string{hub}, w.snapshot(prod).Choices[0][0].Unknown)
}

func TestARestartChangesNoKey(t *testing.T) {
	t.Parallel()
	w := sharers(t)
	before := w.keys()
	w.restartOn(w.fake)
	w.settle(prod, test)
	require.Equal(t, before, w.keys())
}

func TestAServiceThatIsSeenToBeGoneIsTakenOut(t *testing.T) {
	t.Parallel()
	w := running(t)
	writer, err := w.observed.Writer(context.Background(), berlin, fence)
	require.NoError(t, err)
	require.NoError(t, writer.SetService(context.Background(), "shop", "web", address.Observation{}))
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.20"}, w.published(prod))
	w.observe(paris, "shop/web")
	w.settle(prod)
	require.Empty(t, w.published(prod), "the last address was observed to be gone")
	require.Equal(t, intent.Instantiated, w.state(prod))
	w.observe(paris, "shop/web", "203.0.113.21")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.21"}, w.published(prod))
}

func TestAnAddressRewritesTheDNSEndpointAlone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.manifests(prod, 3)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	before := w.keys()
	w.observe(berlin, "shop/web", "203.0.113.11")
	require.NoError(t, w.step(prod))
	var changed []string
	for key, revision := range w.keys() {
		if before[key] != revision {
			changed = append(changed, key)
		}
	}
	snap := w.snapshot(prod)
	at := slices.IndexFunc(snap.Objects, func(o bundle.Object) bool { return o.Kind == "DNSEndpoint" })
	require.ElementsMatch(t, []string{
		"/signpost/current/touched/" + string(prod),
		"/signpost/moved",
		"/signpost/observed/edge+berlin/service/shop/web",
		"/context/" + snap.Lifecycle.ContextID + "/app/web/cluster/edge+hub/resource/" + snap.Objects[at].Name + "+DNSEndpoint/",
	}, changed)
}

// TestDirectoriesOfferWhatTheirManifestsSay: nobody observes them.
func TestDirectoriesOfferWhatTheirManifestsSay(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put("cluster-providers/edge/clusters/paris", `{"directory":"paris"}`)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"externalIPs":["203.0.113.50"]}}]}]}`, eu)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.50"}, w.published(prod))
}
