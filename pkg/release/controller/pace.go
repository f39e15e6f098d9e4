package controller

import (
	"sync"
	"time"
)

// pace joins bursts: what has just been done rests for a while, and is done once
// more if something came meanwhile.
type pace struct {
	every time.Duration

	mu    sync.Mutex
	done  map[work]time.Time
	order []work // of done, the oldest first
}

func newPace(every time.Duration) *pace { return &pace{every: every, done: map[work]time.Time{}} }

// did notes that something was done.
func (p *pace) did(todo work, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(now)
	if _, known := p.done[todo]; !known {
		p.order = append(p.order, todo)
	}
	p.done[todo] = now
}

// heard notes that something was done by whomever. If another replica did it, that one
// goes first the next time, too: two that wait equally long would do it at the same
// moment.
func (p *pace) heard(todo work, now time.Time) {
	const share = 4
	behind := p.every / share
	if p.rest(todo, now) < p.every-behind {
		p.did(todo, now.Add(behind))
	}
}

// rest is how long something has to wait until it may be done again.
func (p *pace) rest(todo work, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, known := p.done[todo]
	if !known {
		return 0
	}
	return max(0, last.Add(p.every).Sub(now))
}

// forget drops what need not wait any more.
func (p *pace) forget(now time.Time) {
	for len(p.order) > 0 && !now.Before(p.done[p.order[0]].Add(p.every)) {
		delete(p.done, p.order[0])
		p.order = p.order[1:]
	}
}
