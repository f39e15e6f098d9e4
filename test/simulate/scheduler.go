package simulate

import (
	"cmp"
	"slices"
	"testing/synctest"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// call is a request at an edge, which waits to be let through.
type call struct {
	process *process
	name    string // "replica part verb key", what the trace and the order of calls go by
	caller  uint64 // tells calls apart that look the same
	marks   string // and those of one kind of work: what its log lines would say that it is about
	round   int    // when it came
	point   string // where a process may crash, empty for what writes nothing
	expired func() bool
	do      func() error            // has the effect, and answers what the edge answers
	fail    func(fault fault) error // what the edge answers instead
	may     []fault                 // what can go wrong with it
	site    *site                   // the cluster that it goes to, nil for the store
	about   bundle.ID               // the object, of a cluster
	barred  func() bool             // not to be let through yet
	held    bool                    // it hangs until until
	until   time.Time
	belated bool // it has its effect when that is over
	answer  chan error

	goroutine string // that asks
}

// choice is something that can happen next.
type choice struct {
	name string
	do   func()
}

// pass waits until the scheduler lets the call through, and answers what came
// of it. A process that is dead is answered at once, and nothing happens.
func (w *world) pass(c *call) error {
	w.mu.Lock()
	if c.process.dead {
		w.mu.Unlock()
		return c.fail(dead)
	}
	c.answer, c.round, c.goroutine = make(chan error, 1), w.round, goroutine()
	w.pending = append(w.pending, c)
	w.mu.Unlock()
	select {
	case w.arrived <- struct{}{}:
	default:
	}
	return <-c.answer
}

// run lets one thing after the other happen, until a condition holds, the
// time is over, or an invariant is broken. It answers whether the condition
// holds. The condition is looked at while nothing else is to be done.
func (w *world) run(until func() bool, within time.Duration) bool {
	deadline := time.Now().Add(within)
	for w.broken == nil {
		synctest.Wait()
		select {
		case <-w.arrived:
		default:
		}
		w.round++
		if time.Now().After(deadline) {
			return until()
		}
		choices := w.choices()
		if len(choices) == 0 {
			if until() {
				return true
			}
			w.idle(deadline)
			continue
		}
		next := choices[w.random.IntN(len(choices))]
		w.trace.add(next.name)
		next.do()
		w.steps++
		if w.random.IntN(pauseOneIn) == 0 {
			time.Sleep(time.Duration(1+w.random.IntN(longestPause)) * time.Millisecond)
		}
	}
	return false
}

// Rhythm of the scheduler.
const (
	pauseOneIn   = 4 // steps after one of so many, some time passes
	longestPause = 8 // milliseconds
	longestIdle  = 500 * time.Millisecond
)

// idle lets time pass until a call comes or something is due.
func (w *world) idle(deadline time.Time) {
	now := time.Now()
	next := earliest(now.Add(longestIdle), deadline.Add(time.Millisecond))
	for _, due := range w.dues() {
		if due.After(now) {
			next = earliest(next, due)
		}
	}
	select {
	case <-w.arrived:
	case <-time.After(next.Sub(now)):
	}
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// dues are the times at which something can happen that cannot now.
func (w *world) dues() []time.Time {
	var out []time.Time
	for _, e := range w.events {
		out = append(out, e.at)
	}
	for _, p := range w.living() {
		out = append(out, p.frozen)
		for _, t := range p.timers {
			out = append(out, t.due)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.pending {
		if c.held {
			out = append(out, c.until)
		}
	}
	return out
}

// choices lists what can happen now, in an order that does not depend on
// which goroutine came first.
func (w *world) choices() []choice {
	now := time.Now()
	var out []choice
	for _, e := range w.events {
		if !e.at.After(now) {
			return []choice{{e.name, func() { w.happen(e) }}} // what the script says happens at its time
		}
	}
	for _, c := range w.waiting() {
		if c.ready(now) {
			out = append(out, choice{c.name, func() { w.let(c) }})
		}
	}
	for _, p := range w.living() {
		if !p.frozen.After(now) {
			out = append(out, p.choices(now)...)
		}
	}
	return out
}

// waiting are the calls that wait, in order.
func (w *world) waiting() []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.pending, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.name, b.name), cmp.Compare(a.caller, b.caller), cmp.Compare(a.marks, b.marks))
	})
	return slices.Clone(w.pending)
}

// ready tells whether the call may be let through.
func (c *call) ready(now time.Time) bool {
	switch {
	case c.process.frozen.After(now):
		return false
	case c.barred != nil && c.barred():
		return false
	case c.expired():
		return true
	case c.held:
		return !c.until.After(now)
	}
	return true
}

// let lets a call through: with its effect, with a fault, or with the end of
// the process that asked.
func (w *world) let(c *call) {
	if c.expired() || c.held {
		if c.belated {
			_ = c.do() // nobody is told
		}
		w.finish(c, c.fail(timeout))
		return
	}
	if c.site != nil && c.site.hung {
		c.held = true
		c.until = time.Now().Add(hangs)
		return
	}
	if c.point != "" && w.crashesAt(c) {
		return
	}
	w.suffer(c, w.drawFault(c))
	w.stall(c)
}

// finish answers a call.
func (w *world) finish(c *call, err error) {
	w.mu.Lock()
	w.pending = slices.DeleteFunc(w.pending, func(other *call) bool { return other == c })
	w.mu.Unlock()
	if err != nil {
		w.trace.add("  = " + err.Error())
	}
	c.answer <- err
}

// event happens at a time.
type event struct {
	at   time.Time
	name string
	do   func()
}

// after has something happen when some time has passed.
func (w *world) after(d time.Duration, name string, do func()) {
	w.events = append(w.events, &event{at: time.Now().Add(d), name: name, do: do})
}

func (w *world) happen(e *event) {
	w.events = slices.DeleteFunc(w.events, func(other *event) bool { return other == e })
	e.do()
}
