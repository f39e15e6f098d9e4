package throttle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNobodyTakesMoreThanHalfOfTheBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBytes(100, time.Second)
		first, ok := b.Take(t.Context(), "greedy", 1000)
		require.True(t, ok, "what is more than half counts for half")
		began := time.Now()
		_, ok = b.Take(t.Context(), "greedy", 1)
		require.False(t, ok)
		require.Equal(t, time.Second, time.Since(began))

		second, ok := b.Take(t.Context(), "modest", 50)
		require.True(t, ok)
		_, ok = b.Take(t.Context(), "third", 1)
		require.False(t, ok, "all are taken")
		go func() {
			time.Sleep(time.Second / 2)
			first.Leave()
		}()
		third, ok := b.Take(t.Context(), "third", 50)
		require.True(t, ok, "in turn")
		second.Leave()
		third.Shrink(60)
		third.Shrink(10)
		again, ok := b.Take(t.Context(), "third", 40)
		require.True(t, ok, "what is given back is there for all")
		other, ok := b.Take(t.Context(), "other", 50)
		require.True(t, ok)
		for _, one := range []*Taken{third, again, other, nil} {
			one.Leave()
		}
		all, ok := b.Take(t.Context(), "other", 50)
		require.True(t, ok)
		all.Leave()
		require.Empty(t, b.halves.taken)
	})
}
