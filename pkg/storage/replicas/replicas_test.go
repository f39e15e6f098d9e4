package replicas_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/replicas"
)

var since = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// runs registers a replica until the returned function is called.
func runs(t *testing.T, store kv.KV, id, role, version string) (*replicas.Registry, func()) {
	registry := replicas.NewRegistry(store, replicas.Replica{ID: id, Role: role, Version: version, Host: "pod-" + id, Since: since}, slog.New(slog.DiscardHandler))
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- registry.Run(ctx) }()
	return registry, func() {
		end()
		require.NoError(t, <-ended)
	}
}

func live(t *testing.T, store kv.KV) []replicas.Replica {
	all, err := replicas.Live(t.Context(), store)
	require.NoError(t, err)
	return all
}

// measured is what signpost_replicas says.
func measured(t *testing.T, registry *replicas.Registry) []string {
	all := prometheus.NewRegistry()
	require.NoError(t, all.Register(registry))
	families, err := all.Gather()
	require.NoError(t, err)
	var said []string
	for _, family := range families {
		require.Equal(t, "signpost_replicas", family.GetName())
		for _, m := range family.GetMetric() {
			said = append(said, fmt.Sprintf("%s %s: %v", m.GetLabel()[0].GetValue(), m.GetLabel()[1].GetValue(), m.GetGauge().GetValue()))
		}
	}
	return said
}

func TestReplicasAreRegisteredAsLongAsTheyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := kvtest.NewFake()
		first, end := runs(t, store, "a", replicas.API, "v1")
		second, endSecond := runs(t, store, "b", replicas.Worker, "v2")
		time.Sleep(6 * time.Second) // virtual: each has looked again
		require.Equal(t, []replicas.Replica{
			{ID: "a", Role: "api", Version: "v1", Host: "pod-a", Since: since},
			{ID: "b", Role: "worker", Version: "v2", Host: "pod-b", Since: since},
		}, live(t, store))
		others, err := second.Others(t.Context())
		require.NoError(t, err)
		require.Len(t, others, 1)
		require.False(t, others[0].Works(), "an API replica serves no clusters")
		require.Equal(t, []string{"all v1: 0", "api v1: 1", "worker v1: 0", "worker v2: 1"}, measured(t, first))
		require.False(t, first.Idle())
		endSecond()
		require.Len(t, live(t, store), 1, "at once, not when its lease runs out")
		time.Sleep(6 * time.Second)
		require.Equal(t, []string{"all v1: 0", "api v1: 1", "worker v1: 0"}, measured(t, first), "that nobody works is seen")
		require.True(t, first.Idle())
		end()
		require.Empty(t, live(t, store))
	})
}

// TestAReplicaIsRegisteredAgain: after it has lost its lease, and after the store
// did not answer. Meanwhile it does not say who lives.
func TestAReplicaIsRegisteredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := kvtest.NewFake()
		var silent atomic.Bool
		store.Before = func(string, string) error {
			if silent.Load() {
				return errors.New("it does not answer")
			}
			return nil
		}
		registry, end := runs(t, store, "a", replicas.All, "v1")
		defer end()
		synctest.Wait()
		store.Expire(1)
		synctest.Wait()
		require.Empty(t, live(t, store))
		require.Empty(t, measured(t, registry))
		time.Sleep(2 * time.Second)
		require.Len(t, live(t, store), 1)

		silent.Store(true)
		time.Sleep(6 * time.Second)
		require.Empty(t, measured(t, registry))
		silent.Store(false)
		time.Sleep(2 * time.Second)
		require.Len(t, live(t, store), 1)
		require.Contains(t, measured(t, registry), "all v1: 1")
	})
}

func TestWhatIsNoReplicaIsAnError(t *testing.T) {
	store := kvtest.NewFake()
	_, _, err := store.Txn(t.Context(), nil, kv.Put("/signpost/replicas/a", []byte("no JSON")))
	require.NoError(t, err)
	_, err = replicas.Live(t.Context(), store)
	require.ErrorContains(t, err, "/signpost/replicas/a")
}
