package verify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatHasChangedLastIsAskedForFirstAndAHundredQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	var s schedule
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	const many = 3*questionsAtOnce + 1
	for n := range many {
		began := now.Add(-time.Hour + time.Duration(n)*time.Second)
		s.set(&proof{key: "x", way: &way{}, asks: make([]uint64, 1), began: began, asked: began.Add(time.Second)}, now)
	}
	answered := &proof{key: "answered", way: &way{}, asks: make([]uint64, 1), began: now.Add(-time.Hour), asked: now.Add(-verifyRarely), done: true}
	long := &proof{key: "long", way: &way{}, asks: make([]uint64, 2*questionsAtOnce), began: now.Add(-time.Minute)}
	later := &proof{key: "later", way: &way{}, asks: make([]uint64, 1), began: now.Add(-time.Hour), asked: now.Add(-time.Second), done: true}
	gone := &proof{key: "gone", way: &way{}, asks: make([]uint64, 1), began: now}
	for _, one := range []*proof{answered, long, later, gone} {
		s.set(one, now)
	}
	s.remove(gone)
	require.Equal(t, []*proof{long}, s.due(now), "it changed last, and is asked for although it has more than a hundred")
	var began []time.Time
	for s.wait(now) == 0 {
		due := s.due(now)
		require.LessOrEqual(t, len(due), questionsAtOnce)
		for _, one := range due {
			began = append(began, one.began)
		}
	}
	require.Len(t, began, many+1)
	require.Equal(t, answered.began, began[many], "what was answered before comes last")
	for n := range many - 1 {
		require.True(t, began[n].After(began[n+1]))
	}
	require.Equal(t, verifyRarely-time.Second, s.wait(now))
	require.Equal(t, []*proof{later}, s.due(now.Add(verifyRarely)))
}
