package builtin

import (
	"maps"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// toldFor is how long a removal is kept in mind once it is told, because who was told may ask again.
const toldFor = 10 * time.Minute

// removals are the objects that went lately.
type removals struct {
	at    map[bundle.ID]removal
	sweep time.Time // when those that are over are dropped next
}

// removal is that an object went.
type removal struct {
	revision int64 // that removed it
	turn     int64
	until    time.Time // when nobody asks any more
}

func newRemovals() removals { return removals{at: map[bundle.ID]removal{}} }

// add takes up a removal. It drops those that are over, a few times in an hour.
func (r *removals) add(id bundle.ID, revision, turn int64, now time.Time) {
	r.at[id] = removal{max(r.at[id].revision, revision), turn, now.Add(cluster.RemovedFor)}
	if now.Before(r.sweep) {
		return
	}
	r.sweep = now.Add(toldFor)
	maps.DeleteFunc(r.at, func(_ bundle.ID, one removal) bool { return now.After(one.until) })
}

// told notes that a removal was told.
func (r *removals) told(id bundle.ID, now time.Time) {
	if one, known := r.at[id]; known && one.until.After(now.Add(toldFor)) {
		one.until = now.Add(toldFor)
		r.at[id] = one
	}
}
