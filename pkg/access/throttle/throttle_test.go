package throttle

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEachHasABucketOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBuckets(10, 3)
		for range 3 {
			_, ok := b.Take("greedy")
			require.True(t, ok, "the burst")
		}
		wait, ok := b.Take("greedy")
		require.False(t, ok)
		require.Equal(t, 100*time.Millisecond, wait.Round(time.Millisecond), "ten in a second")
		_, ok = b.Take("modest")
		require.True(t, ok, "what one takes is not taken from another")

		time.Sleep(wait)
		_, ok = b.Take("greedy")
		require.True(t, ok, "after the wait that was told")
		_, ok = b.Take("greedy")
		require.False(t, ok, "one token, and no more")
		time.Sleep(time.Hour)
		for range 3 {
			_, ok = b.Take("greedy")
			require.True(t, ok)
		}
		_, ok = b.Take("greedy")
		require.False(t, ok, "a bucket holds no more than the burst")
	})
}

func TestOneMayWaitForAToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBuckets(1, 1)
		require.NoError(t, b.Wait(t.Context(), "emco"))
		began := time.Now()
		require.NoError(t, b.Wait(t.Context(), "emco"))
		require.Equal(t, time.Second, time.Since(began))
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began = time.Now()
		require.Error(t, b.Wait(short, "emco"))
		require.Zero(t, time.Since(began), "who cannot get one in time hears of it at once")
	})
}

func TestBucketsThatNobodyAsksForAreForgotten(t *testing.T) {
	b := NewBuckets(0.001, 1)
	_, ok := b.Take("busy")
	require.True(t, ok)
	for i := range 10 * remembered {
		_, ok := b.Take(strconv.Itoa(i))
		require.True(t, ok)
		if i%1000 == 0 {
			_, ok = b.Take("busy")
			require.False(t, ok, "nobody gets a new bucket by the noise of others")
		}
	}
	require.LessOrEqual(t, len(b.recent)+len(b.older), 2*remembered)
}

func TestNoBucketsLimitNobody(t *testing.T) {
	var b *Buckets
	for range 1000 {
		_, ok := b.Take("x")
		require.True(t, ok)
	}
	require.NoError(t, b.Wait(t.Context(), "x"))
}

func TestWhoFindsNoPlaceWaitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlaces(1, time.Second)
		leave, ok := p.Enter(t.Context())
		require.True(t, ok)

		began := time.Now()
		_, ok = p.Enter(t.Context())
		require.False(t, ok)
		require.Equal(t, time.Second, time.Since(began), "as long as patience lasts")

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		_, ok = p.Enter(gone)
		require.False(t, ok)
		require.Zero(t, time.Since(began), "not for a caller who has gone")

		go func() {
			time.Sleep(500 * time.Millisecond)
			leave()
		}()
		next, ok := p.Enter(t.Context())
		require.True(t, ok, "a place that becomes free")
		next()
	})
}

func TestPlacesWithoutPatience(t *testing.T) {
	p := NewPlaces(2, 0)
	for range p.Len() {
		_, ok := p.Enter(t.Context())
		require.True(t, ok)
	}
	_, ok := p.Enter(t.Context())
	require.False(t, ok)
}

func TestNobodyHasMoreThanAShare(t *testing.T) {
	s, ctx := NewShares(2, 0), t.Context()
	first, ok := s.Take(ctx, "greedy")
	require.True(t, ok)
	second, ok := s.Take(ctx, "greedy")
	require.True(t, ok)
	_, ok = s.Take(ctx, "greedy")
	require.False(t, ok)
	modest, ok := s.Take(ctx, "modest")
	require.True(t, ok, "what one takes is not taken from another")
	first()
	again, ok := s.Take(ctx, "greedy")
	require.True(t, ok, "a place that was given back")
	for _, leave := range []func(){second, modest, again} {
		leave()
	}
	require.Empty(t, s.taken, "who has none is forgotten")
	_, ok = NewShares(0, 0).Take(ctx, "x")
	require.True(t, ok, "at least one")
}

func TestWhoHasAllOfAShareWaitsForOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(1, time.Second)
		leave, ok := s.Take(t.Context(), "greedy")
		require.True(t, ok)
		began := time.Now()
		_, ok = s.Take(t.Context(), "greedy")
		require.False(t, ok)
		require.Equal(t, time.Second, time.Since(began), "as long as patience lasts")

		began = time.Now()
		modest, ok := s.Take(t.Context(), "modest")
		require.True(t, ok)
		require.Zero(t, time.Since(began), "others do not wait")
		modest()

		go func() {
			time.Sleep(500 * time.Millisecond)
			leave()
		}()
		next, ok := s.Take(t.Context(), "greedy")
		require.True(t, ok, "a place that becomes free")
		next()
		require.Empty(t, s.taken, "who has none is forgotten, those that waited in vain, too")
	})
}
