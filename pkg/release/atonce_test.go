package release_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// between is a store that does something before each Range but the first one.
type between struct {
	kv.KV
	ranges int
	do     func(r kv.Range) error
}

// Range implements kv.KV.
func (b *between) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	b.ranges++
	if b.ranges > 1 && b.do != nil {
		if err := b.do(r); err != nil {
			return nil, 0, err
		}
	}
	return b.KV.Range(ctx, r)
}

// TestAStatusIsOfOneTime: what is written while a status is read is in none of its parts.
func TestAStatusIsOfOneTime(t *testing.T) {
	t.Parallel()
	w := running(t)
	before, err := w.service.FullSnapshot(t.Context(), prod)
	require.NoError(t, err)
	store := &between{KV: w.fake}
	w.restartOn(store)
	store.do = func(kv.Range) error {
		store.do = nil
		w.observe(berlin, "shop/web", "203.0.113.77")
		w.put(intent.Path(string(prod)+"/traffic-group-intents/later"), `{}`)
		return nil
	}
	during, err := w.service.FullSnapshot(t.Context(), prod)
	require.NoError(t, err)
	require.Nil(t, store.do, "something was written meanwhile")
	require.Equal(t, status.Of(before), status.Of(during))
	after, err := w.service.FullSnapshot(t.Context(), prod)
	require.NoError(t, err)
	require.NotEqual(t, status.Of(before).Names, status.Of(after).Names)
}

// TestAStatusBeginsAgainIfItsTimeIsCompacted, and so does a plan.
func TestAStatusBeginsAgainIfItsTimeIsCompacted(t *testing.T) {
	t.Parallel()
	w := running(t)
	store := &between{KV: w.fake}
	w.restartOn(store)
	for what, read := range map[string]func() error{
		"status": func() error { _, err := w.service.FullSnapshot(t.Context(), prod); return err },
		"plan":   func() error { _, err := w.service.Plan(ann(prod), prod, intent.Update, 0); return err },
	} {
		store.ranges, store.do = 0, func(r kv.Range) error {
			if r.Revision == 0 {
				return nil
			}
			store.do = nil
			return kv.ErrCompacted
		}
		require.NoError(t, read(), what)
		require.Nil(t, store.do, what)
		store.do = func(r kv.Range) error {
			if r.Revision == 0 {
				return nil
			}
			return kv.ErrCompacted
		}
		err := read()
		require.Equal(t, intent.Conflict, intent.CodeOf(err), what)
		require.ErrorIs(t, err, kv.ErrCompacted, what)
		store.do = nil
	}
}

// TestAStatusOfManyDocumentsMissesNone: there are more of them than are read ahead.
func TestAStatusOfManyDocumentsMissesNone(t *testing.T) {
	t.Parallel()
	w := running(t)
	for n := range kv.AheadLimit + 10 {
		w.put(intent.Path(fmt.Sprintf("%s/traffic-group-intents/more%03d", prod, n)), `{}`)
		w.put(intent.Path(fmt.Sprintf("%s/traffic-group-intents/front/dns-intents/more%03d", prod, n)), fmt.Sprintf(`{"app":"web","serviceName":"web","hostnames":["m%03d.lab.example"]}`, n))
	}
	snap, err := w.service.FullSnapshot(t.Context(), prod)
	require.NoError(t, err)
	require.Len(t, snap.Undeployed, kv.AheadLimit+10)
	require.Equal(t, intent.InputAdded, snap.Undeployed[0].Change)
}
