package controller

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBurstsAreJoined: the first is done at once, and then one in each 200 ms as long
// as more comes; each work has a pace of its own.
func TestBurstsAreJoined(t *testing.T) {
	t.Parallel()
	p := newPace()
	web, api := work{"prod", "shop/web"}, work{"prod", "shop/api"}
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	require.Zero(t, p.rest(web, at(0)), "the first")
	p.did(web, at(0))
	require.Equal(t, 140*time.Millisecond, p.rest(web, at(10)), "the second")
	require.Equal(t, 50*time.Millisecond, p.rest(web, at(100)))
	require.Zero(t, p.rest(api, at(100)), "another Service")
	p.did(api, at(100))
	require.Zero(t, p.rest(web, at(150)))
	require.Zero(t, p.rest(web, at(150)), "to ask is not to do")
	p.did(web, at(151))
	require.Equal(t, time.Millisecond, p.rest(web, at(300)), "the burst goes on")
	require.Zero(t, p.rest(web, at(301)))
	p.did(api, at(520))
	require.Zero(t, p.rest(web, at(520)), "the first after a pause")
}

// TestALoneChangeNeverWaits: however long the changes go on, if they come apart.
func TestALoneChangeNeverWaits(t *testing.T) {
	t.Parallel()
	p, now := newPace(), time.UnixMilli(0)
	for range 100 {
		require.Zero(t, p.rest(work{}, now))
		p.did(work{}, now)
		now = now.Add(foldEvery)
	}
}

// TestAnotherReplicaGoesFirst: who hears that another one follows the changes waits
// longer than that one.
func TestAnotherReplicaGoesFirst(t *testing.T) {
	t.Parallel()
	p, now := newPace(), time.UnixMilli(0)
	p.heard(work{}, now)
	require.Equal(t, foldEvery+foldEvery/4, p.rest(work{}, now))
	own := newPace()
	own.did(work{}, now)
	own.heard(work{}, now.Add(time.Millisecond))
	require.Equal(t, foldEvery-time.Millisecond, own.rest(work{}, now.Add(time.Millisecond)), "what it hears of itself")
}

// TestAPaceRemembersBurstsAlone: however many Services change, and in no 150 ms is more
// than one change followed.
func TestAPaceRemembersBurstsAlone(t *testing.T) {
	t.Parallel()
	p, now := newPace(), time.UnixMilli(0)
	random := rand.New(rand.NewPCG(1, 1))
	did := map[work][]time.Time{}
	for range 10_000 {
		now = now.Add(time.Duration(random.IntN(20)) * time.Millisecond)
		todo := work{service: string(rune('a' + random.IntN(100)))}
		if p.rest(todo, now) == 0 {
			p.did(todo, now)
			if did[todo] = append(did[todo], now); len(did[todo]) > 1 {
				require.GreaterOrEqual(t, now.Sub(did[todo][len(did[todo])-2]), foldEvery)
			}
		}
		require.Len(t, p.order, len(p.done))
		require.LessOrEqual(t, len(p.done), 100)
	}
	p.did(work{service: "last"}, now.Add(time.Hour))
	require.Len(t, p.done, 1)
}
