package controller

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// mostPolls is in how many turns a second work comes again that has come often without being settled.
const mostPolls = 100

// again has work done again that is not settled: after a time that doubles, unless it comes earlier for another reason. Work that has
// settled meanwhile does not come again. Very much work that does not settle, as while a home is away, comes the more rarely.
type again struct {
	add     func(todo work, often bool) // often: it has come often
	limiter workqueue.TypedRateLimiter[work]

	mu    sync.Mutex
	turn  int       // of the last timer
	last  time.Time // when the last of what has come often comes again
	waits map[work]waits
}

// waits is when work comes again.
type waits struct {
	timer *time.Timer
	turn  int
}

func newAgain(add func(todo work, often bool)) *again {
	return &again{add: add, limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[work](waitFirst, waitMost), waits: map[work]waits{}}
}

// unsettled has work done again.
func (a *again) unsettled(todo work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if earlier, there := a.waits[todo]; there {
		earlier.timer.Stop()
	}
	a.turn++
	turn, wait := a.turn, a.limiter.When(todo)
	often := wait >= waitMost
	if often {
		wait = a.apart(wait)
	}
	a.waits[todo] = waits{turn: turn, timer: time.AfterFunc(wait, func() {
		if a.due(todo, turn) {
			a.add(todo, often)
		}
	})}
}

// apart is how long work waits that has come often, so that it comes a share of a second after the one before it. If very much of
// that has settled meanwhile, it does not wait for its turns.
func (a *again) apart(wait time.Duration) time.Duration {
	const apart = time.Second / mostPolls
	now := time.Now()
	behind := min(a.last.Sub(now), time.Duration(len(a.waits))*apart) + apart
	wait = max(wait, behind)
	a.last = now.Add(wait)
	return wait
}

// due tells whether a turn is the last one of its work.
func (a *again) due(todo work, turn int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waits[todo].turn != turn {
		return false
	}
	delete(a.waits, todo)
	return true
}

// forget forgets how often work was not settled.
func (a *again) forget(todo work) { a.limiter.Forget(todo) }

// anew forgets how often work was not settled. It does not come again for that.
func (a *again) anew(todo work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limiter.Forget(todo)
	if last, there := a.waits[todo]; there {
		last.timer.Stop()
		delete(a.waits, todo)
	}
}
