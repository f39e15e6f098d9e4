package addressprobe

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// target is one address that is probed in one way.
type target struct {
	key              // among those of the cluster
	project, address string
	spec             intent.Probe
	interval         time.Duration
	vantage          *Vantage
	changed          func() // called when seen has changed
	cancel           context.CancelFunc
	ended            chan struct{}

	last   time.Time // of the vantage: when the last probe ended
	failed bool      // likewise: it failed
	out    bool      // likewise: the address counts as one that does not answer

	failures, successes int       // in a row
	since               time.Time // the first of these failures

	mu   sync.Mutex
	seen observed.ProbeSeen
}

// key tells targets of a cluster apart.
type key struct {
	endpoint string // "namespace/name" of the DNSEndpoint
	probe    string // the key of a bundle.Probe
	address  string
}

func newTarget(at key, project string, spec json.RawMessage, v *Vantage, changed func()) *target {
	t := &target{key: at, project: project, address: at.address, vantage: v, changed: changed, ended: make(chan struct{})}
	_ = json.Unmarshal(spec, &t.spec) // as Signpost wrote it; else nothing answers
	t.interval = max(duration(t.spec.Interval), time.Second)
	t.seen = observed.ProbeSeen{Probe: at.probe, Target: at.address}
	return t
}

// run probes until ctx ends.
func (t *target) run(ctx context.Context) {
	defer close(t.ended)
	defer t.vantage.leave(t)
	c := newCheck(t.spec, t.address, t.vantage.dial)
	defer c.close()
	wait := time.Duration(rand.Float64() * float64(min(t.interval, time.Second))) //nolint:gosec // to spread probes
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		began := time.Now()
		var err error
		if !t.vantage.within(ctx, t, func() { err = c.ask(ctx) }) {
			return
		}
		t.take(time.Now(), err)
		wait = t.pause() - time.Since(began)
	}
}

// pause is an interval, shorter or longer by up to a tenth, so that probes spread.
func (t *target) pause() time.Duration {
	const share = 0.1
	return time.Duration(float64(t.interval) * (1 - share + 2*share*rand.Float64())) //nolint:gosec // likewise
}

// take takes up the outcome of a probe.
func (t *target) take(now time.Time, err error) {
	switch {
	case err == nil:
		t.vantage.probes.WithLabelValues("ok").Inc()
		t.vantage.note(t, now, false)
		t.failures, t.successes = 0, t.successes+1
		if t.state() == nil || t.successes >= t.spec.Successes {
			t.judge(1, "")
		}
	case unjudged(err):
		t.vantage.probes.WithLabelValues("unjudged").Inc()
		t.failures, t.successes = 0, 0
		t.say(err.Error())
	default:
		t.vantage.probes.WithLabelValues("failed").Inc()
		t.vantage.note(t, now, true)
		t.failures++
		if t.failures == 1 {
			t.since = now
		}
		t.successes = 0
		t.fail(err)
	}
}

// fail takes up a failure.
func (t *target) fail(err error) {
	if state := t.state(); t.failures < t.spec.Failures || state != nil && state.Ready == 0 {
		return
	}
	if blind := t.vantage.blindness(t, t.since); blind != "" {
		t.say(blind)
		return
	}
	t.judge(0, err.Error())
}

func (t *target) state() *address.Readiness {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen.State
}

// judge tells that the address answers, or why it does not.
func (t *target) judge(ready int, message string) {
	t.vantage.judged(t, ready == 0)
	t.set(&address.Readiness{Ready: ready, Total: 1}, message)
}

// say tells why the address is not judged. The state stays.
func (t *target) say(message string) { t.set(t.state(), message) }

func (t *target) set(state *address.Readiness, message string) {
	t.mu.Lock()
	same := t.seen.Message == message && (state == t.seen.State || state != nil && t.seen.State != nil && state.Ready == t.seen.State.Ready)
	t.seen.State, t.seen.Message = state, message
	t.mu.Unlock()
	if !same {
		t.changed()
	}
}

// result is what is known of the address.
func (t *target) result() observed.ProbeSeen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}
