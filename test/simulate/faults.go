package simulate

import (
	"errors"
	"slices"
	"time"

	failure "github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// fault is what can go wrong with one request.
type fault string

const (
	none      fault = ""
	refused   fault = "refused"       // it does not arrive
	lost      fault = "answer lost"   // it has its effect, and nobody is told
	hang      fault = "hangs"         // neither effect nor answer
	late      fault = "late"          // it has its effect when who asked gives up; in the store, also later
	throttled fault = "429"           // the cluster asks for patience
	failing   fault = "500"           // the cluster has a bad moment
	conflict  fault = "conflict"      // somebody changes the object just before
	twice     fault = "twice"         // a proxy repeats it; the second answer comes back
	partly    fault = "partly"        // a delete is accepted, and ends later
	timeout   fault = "timeout"       // the answer to what hung
	dead      fault = "process ended" // the answer to a process that is no more
)

// How long things take that go wrong.
const (
	hangs     = 11 * time.Second // longer than any request to a cluster may take
	storeWait = 5 * time.Second  // the patience of a request to the store
	latest    = 12               // seconds until a late request has its effect
	lingering = 6                // seconds until an accepted delete ends
)

// drawFault says what goes wrong with a call.
func (w *world) drawFault(c *call) fault {
	if w.calm || len(c.may) == 0 || w.random.Float64() >= w.profile.faults {
		return none
	}
	return c.may[w.random.IntN(len(c.may))]
}

// suffer lets a call through with a fault.
func (w *world) suffer(c *call, f fault) {
	if f != none {
		w.trace.add("  ! " + string(f))
		w.faults[f]++
	}
	switch f {
	case refused, throttled, failing:
		w.finish(c, c.fail(f))
	case lost:
		_ = c.do() // nobody is told
		w.finish(c, c.fail(f))
	case hang:
		c.held, c.until = true, time.Now().Add(w.patience(c))
	case late:
		c.held, c.until = true, time.Now().Add(w.patience(c))
		if c.belated = c.site != nil; !c.belated {
			w.after(time.Duration(1+w.random.IntN(latest))*time.Second, "late: "+c.name, func() { _ = c.do() })
		}
	case twice:
		_ = c.do() // the second answer comes back
		w.finish(c, c.do())
	case conflict:
		c.site.disturb(c)
		w.finish(c, c.do())
	case partly:
		c.site.linger(w, time.Duration(1+w.random.IntN(lingering))*time.Second, func() { w.finish(c, c.do()) })
	default:
		w.finish(c, c.do())
	}
}

func (w *world) patience(c *call) time.Duration {
	if c.site != nil {
		return hangs
	}
	return storeWait
}

// crashesAt ends the process of a call before or after its effect, if it is
// its turn.
func (w *world) crashesAt(c *call) bool {
	before, after := "before "+c.point, "after "+c.point
	at := ""
	switch {
	case w.calm:
		return false
	case w.profile.crashAt != "":
		if (w.profile.crashAt == before || w.profile.crashAt == after) && w.crashes == 0 && w.random.IntN(forcedOneIn) == 0 {
			at = w.profile.crashAt
		}
	case w.random.Float64() < w.profile.crashes:
		at = []string{before, after}[w.random.IntN(2)]
	}
	if at == "" {
		return false
	}
	w.points[at]++
	w.trace.add("  ! crash " + at)
	if at == after {
		_ = c.do() // nobody is told
	}
	w.crash(c.process)
	return true
}

// forcedOneIn of the visits to the point of a forced crash is the crash.
const forcedOneIn = 2

// errEnded is what the calls of a dead process are answered.
var errEnded = errors.New("the process has ended")

// storeFails answers for the store.
func storeFails(f fault) error {
	if f == dead {
		return &intent.Error{Code: intent.Unavailable, Detail: "transaction", Err: errEnded}
	}
	return &intent.Error{Code: intent.Unavailable, Detail: "the store does not answer: " + string(f)}
}

// siteFails answers for a cluster.
func siteFails(f fault) error {
	out := &failure.Error{Fault: failure.Unreachable, Message: "no answer in time"}
	switch f {
	case refused:
		out.Message = "connection refused"
	case throttled:
		out.Code, out.Message = 429, "too many requests"
	case failing:
		out.Code, out.Message = 500, "internal error"
	case dead:
		out.Err = errEnded
	}
	return out
}

func storeFaults(write bool) []fault {
	if write {
		return []fault{refused, lost, hang, late}
	}
	return []fault{refused, hang}
}

func siteFaults(verb string) []fault {
	common := []fault{refused, hang, throttled, failing}
	switch verb {
	case "create":
		return slices.Concat(common, []fault{lost, late, twice})
	case "apply":
		return slices.Concat(common, []fault{lost, late, twice, conflict})
	case "delete":
		return slices.Concat(common, []fault{lost, late, twice, conflict, partly})
	}
	return common
}
