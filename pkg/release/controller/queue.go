package controller

import (
	"sync"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// queue is the order in which work is done: as it came, but for the work of owners of which
// nothing is published yet. That goes before the other work, which keeps every fourth turn.
// The methods of workqueue.Queue are called one at a time.
type queue struct {
	first, others []work
	turns         int     // in a row that went to the first, while others waited
	providers     running // work of theirs that was taken, and is not done: who takes what comes behind it finds it here

	mu     sync.Mutex
	urgent map[work]bool // goes to the first when it comes
}

// firstInARow is how many turns in a row the first have while others wait.
const firstInARow = 3

func newQueue() *queue { return &queue{urgent: map[work]bool{}} }

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

// Pop implements workqueue.Queue. Whoever takes the work calls done with it.
func (q *queue) Pop() work {
	todo := q.next()
	if state.IsRecord(todo.owner) {
		q.providers.begin()
	}
	return todo
}

// done notes that work is done that was taken.
func (q *queue) done(todo work) {
	if state.IsRecord(todo.owner) {
		q.providers.end()
	}
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
