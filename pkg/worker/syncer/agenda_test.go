package syncer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// TestAChangedObjectIsDecidedAboutAlone: a worker looks at as many objects for one that has
// changed beside 20 others as beside 400, whoever has changed it.
func TestAChangedObjectIsDecidedAboutAlone(t *testing.T) {
	t.Parallel()
	looks := map[int]map[string]int{}
	for _, others := range []int{20, 400} {
		looks[others] = map[string]int{}
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t, hub)
			f := s.clusters[hub]
			_, stop := s.start("a")
			defer stop()
			all := []bundle.Object{namespace(t, hub)}
			for n := range others {
				all = append(all, config(t, hub, fmt.Sprintf("c%d", n), "1"))
			}
			s.commit("many", all...)
			s.commit("one", config(t, hub, "mine", "1"))
			time.Sleep(5 * time.Second)
			measure := func(what string, do func()) {
				f.Forget()
				do()
				time.Sleep(5 * time.Second)
				looks[others][what] = f.Looks()
				require.Len(t, writes(f), 1, what)
			}
			measure("a new context", func() { s.commit("one", config(t, hub, "mine", "2")) })
			measure("an edit", func() { f.Touch(config(t, hub, "mine", "2").ID) })
			measure("a deletion", func() { f.Remove(config(t, hub, "mine", "2").ID) })
			measure("an owner that goes", func() { s.commit("one") })
		})
	}
	assert.Equal(t, looks[20], looks[400])
	assert.Less(t, looks[20]["an edit"], 10)
}

// TestTheLookAtAllObjectsCountsNothingThatWasTold, though contexts change while it comes.
func TestTheLookAtAllObjectsCountsNothingThatWasTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		_, stop := s.start("a")
		defer stop()
		for n := range 31 * 60 / 2 {
			s.commit("dig", namespace(t, hub), config(t, hub, "busy", fmt.Sprint(n)))
			time.Sleep(2 * time.Second)
		}
		require.Greater(t, len(writes(f)), 31*60/2)
		require.Zero(t, s.metric("signpost_sync_resync_found_total"))
	})
}

// TestTheLookAtAllObjectsFindsWhatNobodyTold, within half an hour, and counts it; what was
// told is not counted.
func TestTheLookAtAllObjectsFindsWhatNobodyTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		_, stop := s.start("a")
		defer stop()
		lost, told := config(t, hub, "lost", "1"), config(t, hub, "told", "1")
		s.commit("dig", namespace(t, hub), lost, told)
		time.Sleep(5 * time.Second)
		f.Remove(told.ID)
		f.Mislead(lost.ID)
		time.Sleep(5 * time.Second)
		require.NotNil(t, f.Live(told.ID))
		require.Nil(t, f.Live(lost.ID))
		time.Sleep(31 * time.Minute)
		require.NotNil(t, f.Live(lost.ID))
		require.InDelta(t, 1, s.metric("signpost_sync_resync_found_total"), 0)
	})
}
