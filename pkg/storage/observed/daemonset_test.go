package observed_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func TestDaemonSetsAreReadAsTheyWereWritten(t *testing.T) {
	store := kvtest.NewFake()
	s, w := observed.New(store), writer(t, store, hub)
	nothing, err := s.DaemonSet(t.Context(), hub, "shop-dns", "dns-default")
	require.NoError(t, err)
	assert.Nil(t, nothing, "what cannot be observed is unknown")
	assert.Zero(t, w.DaemonSet("shop-dns", "dns-default"))
	state := observed.DaemonSet{Since: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Desired: 3, Ready: 2, Message: "2 of 3 pods are ready", DNS: &observed.DNS{Unread: "connection refused"}}
	require.NoError(t, w.SetDaemonSet(t.Context(), "shop-dns", "dns-default", state))
	seen, err := s.DaemonSet(t.Context(), hub, "shop-dns", "dns-default")
	require.NoError(t, err)
	assert.Equal(t, &state, seen)
	assert.Equal(t, state, w.DaemonSet("shop-dns", "dns-default"))
	assert.Equal(t, []string{"shop-dns/dns-default"}, w.DaemonSets())
	assert.Empty(t, w.Deployments(), "it is not a Deployment")
	before := store.Revision()
	again := state
	again.Since = time.Date(2026, 11, 1, 12, 1, 0, 0, time.UTC)
	require.NoError(t, w.SetDaemonSet(t.Context(), "shop-dns", "dns-default", again))
	assert.Equal(t, before, store.Revision(), "an unchanged state is not written")
	again.Available = true
	require.NoError(t, w.SetDaemonSet(t.Context(), "shop-dns", "dns-default", again))
	assert.Equal(t, again.Since, w.DaemonSet("shop-dns", "dns-default").Since, "when it became available")
	require.NoError(t, w.RemoveDaemonSet(t.Context(), "shop-dns", "dns-default"))
	assert.Empty(t, w.DaemonSets())
}

func TestUpstreamTellsSinceWhen(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	at := func(minute int) time.Time { return time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC) }
	write := func(minute int, failing bool, others ...observed.Upstream) []observed.Upstream {
		t.Helper()
		upstreams := append(slices.Clone(others), observed.Upstream{Address: "198.51.100.53:53", Failing: failing, Since: at(minute)})
		require.NoError(t, w.SetDaemonSet(t.Context(), "shop-dns", "dns-default", observed.DaemonSet{DNS: &observed.DNS{Upstreams: upstreams}}))
		return w.DaemonSet("shop-dns", "dns-default").DNS.Upstreams
	}
	assert.Equal(t, at(0), write(0, false)[0].Since)
	assert.Equal(t, at(0), write(1, false)[0].Since, "it is as it was")
	assert.Equal(t, at(2), write(2, true)[0].Since, "it fails")
	other := observed.Upstream{Address: "198.51.100.1:53", Since: at(3)}
	seen := write(3, true, other)
	assert.Equal(t, at(2), seen[1].Since, "it has been failing")
	assert.Equal(t, other, seen[0], "another is new")
	require.NoError(t, w.SetDaemonSet(t.Context(), "shop-dns", "dns-default", observed.DaemonSet{}))
	assert.Nil(t, w.DaemonSet("shop-dns", "dns-default").DNS)
}
