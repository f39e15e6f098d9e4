// Package linear proves that documents change as if one request came after the other:
// the store's conditions, and If-Match of the API. Clients write a history of their calls
// beside faults, and porcupine searches for an order that explains all answers.
package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// verb is what a call does.
type verb int

const (
	read verb = iota
	write
	remove
)

// condition is when a write or a removal may happen: always, if the document is absent
// (revision 0), or at a revision.
type condition struct {
	any      bool
	revision int64
}

func (c condition) holds(revision int64) bool { return c.any || c.revision == revision }

// call is one call of a client about the document key.
type call struct {
	key  string
	verb verb
	when condition
	body string // of a write; no two writes have the same
}

// outcome is how a call ended.
type outcome int

const (
	done    outcome = iota
	refused         // by its condition
	missing         // there is no such document
	unknown         // nobody knows whether it happened
	unsent          // it did not happen, and nothing was learned
)

// answer is what a client was told.
type answer struct {
	outcome  outcome
	revision int64 // of a read or a write that is done
	body     string
}

// caller calls a store or an API.
type caller interface {
	call(ctx context.Context, c call) answer
}

// document is the state of one document: revision 0 while it does not exist.
type document struct {
	revision int64
	body     string
}

// promise is what documents are promised to do. The store is restarted under some loads:
// then a removal whose answer was lost is done once the document is gone, also by another
// removal.
type promise struct{ restarts bool }

func (p promise) model() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byKey := map[string][]porcupine.Operation{}
			for _, operation := range history {
				byKey[asCall(operation.Input).key] = append(byKey[asCall(operation.Input).key], operation)
			}
			parts := make([][]porcupine.Operation, 0, len(byKey))
			for _, part := range byKey {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return document{} },
		Step: func(state, input, output any) (bool, any) {
			is, _ := state.(document)
			told, _ := output.(answer)
			explained, next := p.step(is, asCall(input), told)
			return explained, next
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
	}
}

func asCall(input any) call {
	c, _ := input.(call)
	return c
}

// step tells whether a call of a document in a state may be answered so, and how the
// document is then.
func (p promise) step(is document, c call, told answer) (explained bool, next document) {
	happens := c.when.holds(is.revision)
	switch {
	case c.verb == read && is.revision == 0:
		return told.outcome == missing, is
	case c.verb == read:
		return told == answer{done, is.revision, is.body}, is
	case c.verb == remove && is.revision == 0:
		return told.outcome != done || p.restarts, is
	case !happens:
		return told.outcome == refused || told.outcome == unknown, is
	case c.verb == remove:
		return told.outcome == done || told.outcome == unknown, document{}
	}
	next = document{is.revision + 1, c.body}
	return told.outcome == unknown || told.outcome == done && told.revision == next.revision, next
}

// load is how much is called.
type load struct {
	callers []caller // one for each client; they may share a server
	calls   int      // of each client
	keys    int
	seed    uint64
	// after is told of each call that has ended, and may cause a fault.
	after func(ended int)
}

// run lets all clients call at once, and answers the history.
func (l load) run(ctx context.Context) []porcupine.Operation {
	var (
		mu      sync.Mutex
		history []porcupine.Operation
		group   sync.WaitGroup
		ended   int
	)
	began := time.Now()
	for id, caller := range l.callers {
		group.Go(func() {
			draw := rand.New(rand.NewPCG(l.seed, uint64(id))) //nolint:gosec // a test's choice; an index
			seen := map[string]int64{}
			for n := range l.calls {
				c := choose(draw, l.keys, seen, fmt.Sprintf("%d-%d", id, n))
				start := time.Since(began).Nanoseconds()
				told := caller.call(ctx, c)
				end := time.Since(began).Nanoseconds()
				switch told.outcome {
				case done:
					seen[c.key] = told.revision
				case missing:
					seen[c.key] = 0
				case unknown:
					end = math.MaxInt64 // it may happen at any time from now on, or never
				}
				mu.Lock()
				if told.outcome != unsent && (c.verb != read || told.outcome != unknown) {
					history = append(history, porcupine.Operation{ClientId: id, Input: c, Call: start, Output: told, Return: end})
				}
				ended++
				now := ended
				mu.Unlock()
				if l.after != nil {
					l.after(now)
				}
			}
		})
	}
	group.Wait()
	return history
}

// choose draws a call. Conditions are mostly those that a client would take from what it
// has seen.
func choose(draw *rand.Rand, keys int, seen map[string]int64, body string) call {
	key := fmt.Sprintf("d%d", draw.IntN(keys))
	c := call{key: key, when: condition{revision: seen[key]}}
	verbs := []verb{read, read, read, read, write, write, write, write, write, remove}
	switch c.verb = verbs[draw.IntN(len(verbs))]; c.verb {
	case read:
		c.when.any = true
	case write:
		c.body, c.when.any = body, draw.IntN(len(verbs)/2) == 0
	case remove:
		c.when.any = seen[key] == 0
	}
	return c
}
