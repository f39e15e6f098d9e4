package release_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// lookedInto is a store that counts the lifecycles whose values it answers.
type lookedInto struct {
	kv.KV
	lifecycles int
}

// Range implements kv.KV.
func (l *lookedInto) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	items, revision, err := l.KV.Range(ctx, r)
	for _, item := range items {
		if strings.HasPrefix(item.Key, "/signpost/doc/lifecycle/") && len(item.Value) > 0 {
			l.lifecycles++
		}
	}
	return items, revision, err
}

// TestASweepReadsAllLifecyclesOnceInAge, however many have changed meanwhile: nothing goes sooner.
func TestASweepReadsAllLifecyclesOnceInAge(t *testing.T) {
	t.Parallel()
	w, names := newCrowd(t, 5)
	store := &lookedInto{KV: w.fake}
	w.restartOn(store)
	sweep := func() (looked int) {
		before := store.lifecycles
		require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
		return store.lifecycles - before
	}
	every := len(names) + 1 // with that of the provider
	require.NoError(t, w.service.Store.SaveRelease(t.Context(), "4711", []byte("of nobody")))
	_, _, err := w.fake.Txn(t.Context(), nil, kv.Put("/signpost/taken/shop", []byte(`{}`)))
	require.NoError(t, err)
	require.Equal(t, every, sweep())
	item, _, err := w.fake.Get(t.Context(), "/signpost/taken/shop")
	require.NoError(t, err)
	require.NotEqual(t, `{}`, string(item.Value), "it is counted anew")

	require.NoError(t, w.publish(names[1], ofFront[:len(ofFront)-1]+`,"ttl":60}`))
	w.settle(names[1])
	w.clock.pass(59 * time.Second)
	require.Zero(t, sweep())
	w.clock.pass(time.Second)
	require.Equal(t, every, sweep())
	_, err = w.service.LoadRelease(t.Context(), "4711")
	require.Error(t, err, "nobody has pointed to it for long")
}
