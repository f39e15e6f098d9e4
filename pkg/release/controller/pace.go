package controller

import (
	"sync"
	"time"
)

// pace joins bursts. The first change is followed at once. From the second on, what has
// just been done rests for a while, and is done once more if something came meanwhile. A
// burst is over when nothing has come for as long as two rests.
type pace struct {
	mu    sync.Mutex
	done  map[work]time.Time // when something was done last
	order []work             // of done, the oldest first
}

func newPace() *pace { return &pace{done: map[work]time.Time{}} }

// did notes that something was done.
func (p *pace) did(todo work, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(todo, now)
}

func (p *pace) note(todo work, now time.Time) {
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
	behind := foldEvery / share
	p.mu.Lock()
	defer p.mu.Unlock()
	if own, known := p.done[todo]; known && now.Sub(own) < behind {
		return // it was this one
	}
	p.note(todo, now.Add(behind))
}

// rest is how long something has to wait until it may be done again.
func (p *pace) rest(todo work, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, known := p.done[todo]
	if !known {
		return 0
	}
	return max(0, last.Add(foldEvery).Sub(now))
}

// forget drops bursts that are over.
func (p *pace) forget(now time.Time) {
	for len(p.order) > 0 && !now.Before(p.done[p.order[0]].Add(2*foldEvery)) {
		delete(p.done, p.order[0])
		p.order = p.order[1:]
	}
}
