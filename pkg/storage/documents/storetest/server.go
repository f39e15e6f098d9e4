package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// ledger notes which writes were acknowledged, in order.
type ledger struct {
	mu    sync.Mutex
	acked map[intent.Path]int // the highest text that was acknowledged
	tried map[intent.Path]int // the highest text that was tried
	total int
}

func (l *ledger) note(of map[intent.Path]int, path intent.Path, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of[path] = n
	l.total = len(l.acked)
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

func survivesKill(t *testing.T, data Data) {
	put(t, data.Open(t), project, "p")
	for life := range 3 {
		l := &ledger{acked: map[intent.Path]int{}, tried: map[intent.Path]int{}}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for writer := range 3 {
			s := data.Open(t)
			group.Go(func() { writeUntil(ctx, s, l, fmt.Sprintf("%d-%d", life, writer)) })
		}
		require.Eventually(t, func() bool { return l.count() >= 10 }, patience, time.Millisecond)
		data.Kill(t)
		cancel()
		group.Wait()
		data.Restart(t)
		requireAcknowledged(t, data, l)
	}
}

// writeUntil creates documents and replaces each once.
func writeUntil(ctx context.Context, s intent.Store, l *ledger, name string) {
	for n := 0; ctx.Err() == nil; n++ {
		path := intent.Path(fmt.Sprintf("projects/shop/kv-pairs/%s-%d", name, n))
		for version := 1; version <= 2; version++ {
			l.note(l.tried, path, version)
			_, err := s.Put(ctx, intent.Write{Path: path, Body: body(fmt.Sprint(version)), Refs: []intent.Path{project}})
			if err != nil {
				break
			}
			l.note(l.acked, path, version)
		}
	}
}

func requireAcknowledged(t *testing.T, data Data, l *ledger) {
	t.Helper()
	s := data.Open(t)
	require.Eventually(t, func() bool { return s.Ping(t.Context()) == nil }, patience, 10*time.Millisecond)
	require.NoError(t, s.Sweep(t.Context()))
	for path, version := range l.acked {
		doc := get(t, s, path)
		require.GreaterOrEqual(t, doc.Revision, int64(version), "%s was acknowledged", path)
		require.LessOrEqual(t, doc.Revision, int64(l.tried[path]))
		require.Equal(t, body(fmt.Sprint(doc.Revision)), doc.Body)
		require.Equal(t, []intent.Path{project}, doc.Refs)
	}
	t.Logf("%d acknowledged documents are there", len(l.acked))
}

func serverAway(t *testing.T, data Data) {
	s := data.Open(t)
	before := put(t, s, project, "one")
	data.Kill(t)
	away, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := s.Get(away, project)
	requireCode(t, intent.Unavailable, err)
	_, err = s.Put(away, intent.Write{Path: project, Body: body("two")})
	requireCode(t, intent.Unavailable, err)
	_, err = s.List(away, intent.ListOptions{Collection: "projects"})
	requireCode(t, intent.Unavailable, err)
	requireCode(t, intent.Unavailable, s.Delete(away, project, intent.Always()))
	requireCode(t, intent.Unavailable, s.Ping(away))
	data.Restart(t)
	require.Eventually(t, func() bool { return s.Ping(t.Context()) == nil }, patience, 10*time.Millisecond, "the same store finds the server again")
	require.Equal(t, before, get(t, s, project))
	require.EqualValues(t, 2, put(t, s, project, "two").Revision)
}
