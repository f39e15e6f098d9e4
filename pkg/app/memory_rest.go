package app

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// When memory is given back to the machine.
const (
	restEvery  = 20 * time.Second
	leastSpare = 16 << 20 // bytes that nobody uses; fewer are not worth a collection of garbage
	restShare  = 4        // and at least this part of what lives
	leastWork  = 32 << 20 // bytes that are allocated between two looks; a process that allocates more, and more than what lives, is at work
)

// rest gives memory that nobody uses any more back to the machine when the process has little to do, until ctx ends. By
// itself, Go keeps as much as a burst has taken, which may be several times what lives.
type rest struct {
	allocated uint64        // since the process began, when it was looked last
	fragments uint64        // bytes that were spare still when memory was given back last: what lives is in the same pages
	release   func() uint64 // gives memory back, and answers how much is spare still
}

// runRest looks at times, until ctx ends.
func runRest(ctx context.Context) error {
	r, ticker := rest{release: giveBack}, time.NewTicker(restEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			r.look(heapNow())
		}
	}
}

func giveBack() uint64 {
	debug.FreeOSMemory()
	return heapNow().spare
}

// heapUse is how the heap is used, in bytes.
type heapUse struct {
	allocated uint64 // since the process began
	live      uint64 // as the last collection of garbage found it
	spare     uint64 // what the process has of the machine besides
}

func heapNow() heapUse {
	read := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(read)
	live, held := read[1].Value.Uint64(), uint64(0)
	for _, part := range read[2:] {
		held += part.Value.Uint64()
	}
	return heapUse{read[0].Value.Uint64(), live, held - min(held, live)}
}

// look gives memory back if little was allocated since the last look, and much is spare.
func (r *rest) look(now heapUse) {
	atRest := now.allocated-r.allocated < max(leastWork, now.live)
	r.fragments = min(r.fragments, now.spare)
	if atRest && now.spare-r.fragments > max(leastSpare, now.live/restShare) {
		r.fragments = r.release()
	}
	r.allocated = now.allocated
}
