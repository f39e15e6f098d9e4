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
			first()
		}()
		third, ok := b.Take(t.Context(), "third", 50)
		require.True(t, ok, "in turn")
		second()
		third()
		require.Empty(t, b.taken)
	})
}
