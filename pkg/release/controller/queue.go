package controller

import (
	"context"
	"sync"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// queue is the order in which work is done. Owners of which nothing is published yet go first, and those that are looked at
// together with many others go last. Each line keeps every fourth turn of those that the lines before it leave. Within a line,
// work is done as it came. The methods of workqueue.Queue are called one at a time. A worker that takes work calls done with it.
type queue struct {
	lines [goesLast + 1][]work // by place
	last  map[work]bool        // work of the last line, but for what has left it for another one; nil: there is none
	turns [goesLast]int        // in a row that a line had, while a later one waited

	mu        sync.Mutex
	places    map[work]place           // of work that is about to come; without one, it comes in turn
	taken     map[work]<-chan struct{} // work that is not done; over, as it was when the work was taken
	providers int                      // those of taken
	over      chan struct{}            // closes once there are no such providers any more; nil: there are none
}

// place is the line that work waits in.
type place int

const (
	goesFirst place = iota
	inTurn
	goesLast
)

// mostInARow is how many turns in a row a line has while a later one waits.
const mostInARow = 3

func newQueue() *queue {
	return &queue{places: map[work]place{}, taken: map[work]<-chan struct{}{}}
}

// place has work that is about to come wait in another line than those that come in turn. Work that is to go first does so.
func (q *queue) place(todo work, at place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if before, known := q.places[todo]; !known || at < before {
		q.places[todo] = at
	}
}

// placed is where work waits that has come.
func (q *queue) placed(todo work) place {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, known := q.places[todo]
	if !known {
		return inTurn
	}
	delete(q.places, todo)
	return at
}

// Touch implements workqueue.Queue: work that waits stays where it is, unless it would go last and something else has come of it.
func (q *queue) Touch(todo work) {
	if at := q.placed(todo); at != goesLast && q.last[todo] {
		q.leaveLast(todo)
		q.lines[at] = append(q.lines[at], todo)
	}
}

// Push implements workqueue.Queue.
func (q *queue) Push(todo work) {
	at := q.placed(todo)
	q.lines[at] = append(q.lines[at], todo)
	if at != goesLast {
		return
	}
	if q.last == nil {
		q.last = map[work]bool{}
	}
	q.last[todo] = true
}

// leaveLast notes that work does not wait in the last line any more.
func (q *queue) leaveLast(todo work) {
	delete(q.last, todo)
	if len(q.last) == 0 {
		q.last, q.lines[goesLast] = nil, nil // a map stays as large as it was with all owners
	}
}

// Len implements workqueue.Queue.
func (q *queue) Len() int { return len(q.lines[goesFirst]) + len(q.lines[inTurn]) + len(q.last) }

// Pop implements workqueue.Queue.
func (q *queue) Pop() work {
	todo := q.next()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken[todo] = q.over
	if state.IsRecord(todo.owner) {
		q.providers++
		if q.providers == 1 {
			q.over = make(chan struct{})
		}
	}
	return todo
}

// done notes that work is done that was taken.
func (q *queue) done(todo work) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.taken, todo)
	if q.places[todo] == goesLast {
		delete(q.places, todo) // while it was under way, it may have been asked for alone, too
	}
	if state.IsRecord(todo.owner) {
		q.providers--
		if q.providers == 0 {
			close(q.over)
			q.over = nil
		}
	}
}

// awaitProviders waits until no provider is under way any more, if there were some when the work was taken, or until ctx
// ends.
func (q *queue) awaitProviders(ctx context.Context, todo work) {
	q.mu.Lock()
	over := q.taken[todo]
	q.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// idle tells that all work is done that was taken.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.taken) == 0
}

func (q *queue) next() work {
	left := q.Len()
	for at := range q.lines[:goesLast] {
		waits := len(q.lines[at])
		left -= waits
		switch {
		case waits == 0:
		case left > 0 && q.turns[at] >= mostInARow:
			q.turns[at] = 0
		default:
			q.turns[at]++
			return pop(&q.lines[at])
		}
	}
	for {
		if todo := pop(&q.lines[goesLast]); q.last[todo] {
			q.leaveLast(todo)
			return todo
		}
	}
}

func pop(from *[]work) work {
	todo := (*from)[0]
	(*from)[0], *from = work{}, (*from)[1:]
	return todo
}
