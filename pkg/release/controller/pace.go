package controller

import (
	"sync"
	"time"
)

// pace joins bursts. The first and the second change are followed at once. From the third
// on, what has just been done rests for a while, and is done once more if something came
// meanwhile. A burst is over when nothing has come for as long as two rests.
type pace struct {
	mu    sync.Mutex
	done  map[work]paced
	order []work // of done, the oldest first
}

// paced is when something was done last, and whether what comes next is joined.
type paced struct {
	last   time.Time
	joined bool
}

func newPace() *pace { return &pace{done: map[work]paced{}} }

// did notes that something was done.
func (p *pace) did(todo work, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(todo, now, false)
}

func (p *pace) note(todo work, now time.Time, joined bool) {
	p.forget(now)
	if _, known := p.done[todo]; known {
		joined = true
	} else {
		p.order = append(p.order, todo)
	}
	p.done[todo] = paced{now, joined}
}

// heard notes that something was done by whomever. If another replica did it, that one
// goes first the next time, too: two that wait equally long would do it at the same
// moment.
func (p *pace) heard(todo work, now time.Time) {
	const share = 4
	behind := foldEvery / share
	p.mu.Lock()
	defer p.mu.Unlock()
	if own, known := p.done[todo]; known && now.Sub(own.last) < behind {
		return // it was this one
	}
	p.note(todo, now.Add(behind), true)
}

// rest is how long something has to wait until it may be done again.
func (p *pace) rest(todo work, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, known := p.done[todo]
	if !known || !was.joined {
		return 0
	}
	return max(0, was.last.Add(foldEvery).Sub(now))
}

// forget drops bursts that are over.
func (p *pace) forget(now time.Time) {
	for len(p.order) > 0 && !now.Before(p.done[p.order[0]].last.Add(2*foldEvery)) {
		delete(p.done, p.order[0])
		p.order = p.order[1:]
	}
}
