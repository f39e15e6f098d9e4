package observed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const probed = "203.0.113.10"

// TestProbesAreDampedAsReadinessIs: an address that flaps is out at once, and back later
// with each turn. What a new worker does not know yet stays as the last one saw it.
func TestProbesAreDampedAsReadinessIs(t *testing.T) {
	store := kvtest.NewFake()
	w, s := writer(t, store, hub), observed.New(store)
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	see := func(state *address.Readiness, message string) intent.ProbeStatus {
		t.Helper()
		all := map[string]observed.Probes{"shop/web": {Owners: []string{"projects/shop/names/www.lab.example"}, From: "replica-1", Of: []observed.ProbeSeen{{Probe: "p", Target: probed, State: state, Message: message}}}}
		require.NoError(t, w.SetProbes(t.Context(), all, now))
		seen, err := s.Probes(t.Context(), hub, "shop", "web")
		require.NoError(t, err)
		return seen["p"][probed]
	}
	answers, fails := &address.Readiness{Ready: 1, Total: 1}, &address.Readiness{Total: 1}
	assert.Equal(t, intent.ProbeStatus{Target: probed, Healthy: "Unknown", From: "replica-1"}, see(nil, ""))
	assert.Equal(t, "True", see(answers, "").Healthy)
	for _, hold := range []time.Duration{0, 5 * time.Second, 10 * time.Second} {
		now = now.Add(time.Second)
		assert.Equal(t, intent.ProbeStatus{Target: probed, Healthy: "False", Since: now, From: "replica-1", Message: "status 500"}, see(fails, "status 500"), "out at once")
		down := now
		now = now.Add(time.Second)
		if hold > 0 {
			assert.Equal(t, intent.ProbeStatus{Target: probed, Healthy: "False", Since: down, From: "replica-1", Message: "status 500"}, see(answers, ""), "it answers, and does not count yet")
			assert.Equal(t, now.Add(hold), w.Due(now))
			now = now.Add(hold)
		}
		assert.Equal(t, "True", see(answers, "").Healthy)
	}
	see(fails, "status 500")
	w = writer(t, store, hub)
	assert.Equal(t, "False", see(nil, "").Healthy, "the next worker has not probed yet")
	require.NoError(t, w.SetProbes(t.Context(), nil, now))
	seen, err := s.Probes(t.Context(), hub, "shop", "web")
	require.NoError(t, err)
	assert.Empty(t, seen, "what nobody asks for is forgotten")
	assert.Zero(t, w.Due(now.Add(-time.Hour)))
}

// TestProbesThatAreAsBeforeCostNothing: each step of an observer sets them, and the prober hands over all if one has
// changed.
func TestProbesThatAreAsBeforeCostNothing(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	cost := func(endpoints int) (same, change float64) {
		w := writer(t, kvtest.NewFake(), hub)
		probes := func(message string) map[string]observed.Probes {
			all := map[string]observed.Probes{}
			for n := range endpoints {
				all[fmt.Sprintf("shop/n%d", n)] = observed.Probes{Owners: []string{"a"}, Of: []observed.ProbeSeen{{Probe: "p", Target: probed, State: &address.Readiness{Ready: 1, Total: 1}}}}
			}
			all["shop/web"] = observed.Probes{Owners: []string{"a"}, Of: []observed.ProbeSeen{{Probe: "p", Target: probed, Message: message}}}
			return all
		}
		set := func(all map[string]observed.Probes) { require.NoError(t, w.SetProbes(t.Context(), all, now)) }
		one, equal, other := probes("one"), probes("one"), probes("other")
		set(one)
		same = testing.AllocsPerRun(10, func() { set(equal) })
		return same, testing.AllocsPerRun(10, func() { set(other); set(one) })
	}
	same, change := cost(1)
	sameOfMany, changeOfMany := cost(100)
	assert.LessOrEqual(t, same, 1.0, "the prefix of the keys")
	assert.LessOrEqual(t, sameOfMany, 1.0)
	assert.InDelta(t, change, changeOfMany, 20)
}

// TestWhoseAddressesWereProbedIsTold: the owners of the names look at them again.
func TestWhoseAddressesWereProbedIsTold(t *testing.T) {
	store := kvtest.NewFake()
	changes := observed.New(store).Watch(t.Context(), store.Revision()+1)
	w := writer(t, store, hub)
	require.NoError(t, w.SetProbes(t.Context(), map[string]observed.Probes{"shop/web": {Owners: []string{"a", "b"}}}, time.Now()))
	assert.Equal(t, []string{"a", "b"}, (<-changes).Probed)
}
