package controller

import (
	"context"
	"sync"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// queue is the order in which work is done: as it came, but for the work of owners of which
// nothing is published yet. That goes before the other work, which keeps every fourth turn.
// The methods of workqueue.Queue are called one at a time. A worker that takes work calls done with it.
type queue struct {
	first, others []work
	turns         int // in a row that went to the first, while others waited

	mu        sync.Mutex
	urgent    map[work]bool            // goes to the first when it comes
	taken     map[work]<-chan struct{} // work that is not done; over, as it was when the work was taken
	providers int                      // those of taken
	over      chan struct{}            // closes once there are no such providers any more; nil: there are none
}

// firstInARow is how many turns in a row the first have while others wait.
const firstInARow = 3

func newQueue() *queue { return &queue{urgent: map[work]bool{}, taken: map[work]<-chan struct{}{}} }

// hurry has work go first that is about to come.
func (q *queue) hurry(todo work) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.urgent[todo] = true
}

// hurried tells whether work goes first, once.
func (q *queue) hurried(todo work) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	urgent := q.urgent[todo]
	delete(q.urgent, todo)
	return urgent
}

// Touch implements workqueue.Queue: work that waits stays where it is.
func (q *queue) Touch(todo work) { q.hurried(todo) }

// Push implements workqueue.Queue.
func (q *queue) Push(todo work) {
	if q.hurried(todo) {
		q.first = append(q.first, todo)
	} else {
		q.others = append(q.others, todo)
	}
}

// Len implements workqueue.Queue.
func (q *queue) Len() int { return len(q.first) + len(q.others) }

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
	if len(q.first) == 0 || len(q.others) > 0 && q.turns >= firstInARow {
		q.turns = 0
		return pop(&q.others)
	}
	q.turns++
	return pop(&q.first)
}

func pop(from *[]work) work {
	todo := (*from)[0]
	(*from)[0], *from = work{}, (*from)[1:]
	return todo
}
