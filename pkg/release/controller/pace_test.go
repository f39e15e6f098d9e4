package controller

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBurstsAreJoined: the first is done at once, and then one in each 200 ms as
// long as more comes; each work has a pace of its own.
func TestBurstsAreJoined(t *testing.T) {
	t.Parallel()
	p := newPace(foldEvery)
	web, api := work{"prod", "shop/web"}, work{"prod", "shop/api"}
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	require.Zero(t, p.rest(web, at(0)), "the first")
	p.did(web, at(0))
	require.Equal(t, 200*time.Millisecond, p.rest(web, at(0)))
	require.Equal(t, 50*time.Millisecond, p.rest(web, at(150)))
	require.Zero(t, p.rest(api, at(150)), "another Service")
	p.did(api, at(150))
	require.Zero(t, p.rest(web, at(200)))
	require.Zero(t, p.rest(web, at(200)), "to ask is not to do")
	p.did(web, at(201))
	require.Equal(t, time.Millisecond, p.rest(web, at(400)))
	require.Zero(t, p.rest(web, at(10_000)))
}

// TestAPaceRemembersWhatRestsAlone: however many Services change.
func TestAPaceRemembersWhatRestsAlone(t *testing.T) {
	t.Parallel()
	p, now := newPace(foldEvery), time.UnixMilli(0)
	random := rand.New(rand.NewPCG(1, 1))
	did := map[work]time.Time{}
	for range 10_000 {
		now = now.Add(time.Duration(random.IntN(20)) * time.Millisecond)
		todo := work{service: string(rune('a' + random.IntN(100)))}
		want := did[todo].Add(foldEvery).Sub(now)
		if did[todo].IsZero() || want < 0 {
			want = 0
		}
		require.Equal(t, want, p.rest(todo, now))
		if want == 0 {
			p.did(todo, now)
			did[todo] = now
		}
		require.Len(t, p.order, len(p.done))
		require.LessOrEqual(t, len(p.done), 100)
	}
	p.did(work{service: "last"}, now.Add(time.Hour))
	require.Len(t, p.done, 1)
}
