package controller

import (
	"context"
	"sync"
)

// running counts what is under way, for those who wait until nothing is. The zero value is ready.
type running struct {
	mu    sync.Mutex
	count int
	ended chan struct{} // closed when nothing is under way; nil: nothing was
}

// begin notes that something begins.
func (r *running) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	if r.count == 1 {
		r.ended = make(chan struct{})
	}
}

// end notes that something ends that has begun.
func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count--
	if r.count == 0 {
		close(r.ended)
	}
}

// await waits until nothing is under way, or until ctx ends.
func (r *running) await(ctx context.Context) {
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended == nil {
		return
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
