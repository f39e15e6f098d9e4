package syncer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestTheAgeOfTheQueueIsMeasured: as long as the cluster cannot be reached, too.
func TestTheAgeOfTheQueueIsMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		s.clusters[hub].Down(true)
		began := time.Now()
		w, _ := s.start("a")
		s.commit("dig", namespace(t, hub))
		age := func() float64 { return s.metric("signpost_sync_queue_oldest_timestamp_seconds") }
		s.until("it waits", func() bool { return age() > 0 })
		assert.InDelta(t, began.Unix(), age(), 30)
		s.clusters[hub].Down(false)
		s.settled(w, namespace(t, hub))
		assert.Zero(t, age())
	})
}
