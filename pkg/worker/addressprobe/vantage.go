package addressprobe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// Limits of what one process probes.
const (
	mostOfProject = 500 // addresses that are probed for a project
	atOnce        = 256 // probes under way
	atOnceOfOne   = 64  // of them, for one project
	atOnceOfHost  = 2   // of them, to one address
	gapOfHost     = 100 * time.Millisecond
)

// Vantage is the process that probes. It sees all probes that it makes, for all clusters,
// and so tells a fault of its own network from addresses that fail. It is safe for
// concurrent use.
type Vantage struct {
	name string
	dial Dial

	slots  chan struct{}
	probes *prometheus.CounterVec
	blind  prometheus.Gauge

	mu       sync.Mutex
	hosts    map[string]*host // by address
	projects map[string]*project
}

// project is a project whose addresses are probed.
type project struct {
	slots   chan struct{}
	targets int
}

// host is an address, with all checks of it.
type host struct {
	slots  chan struct{}
	own    map[string]chan struct{} // by project, as many: those who may wait for a slot of the project
	checks map[*target]bool
	next   time.Time // when the next probe may begin
}

// NewVantage makes the vantage of a replica of this name. All connections are made by
// dial. Metrics are registered unless registerer is nil.
func NewVantage(name string, dial Dial, registerer prometheus.Registerer) *Vantage {
	v := &Vantage{
		name: name, dial: dial, slots: make(chan struct{}, atOnce), hosts: map[string]*host{}, projects: map[string]*project{},
		probes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signpost_address_probes_total", Help: "Probes of published addresses, by result: ok, failed, or unjudged (the address may not be probed, or this machine cannot try)."}, []string{"result"}),
		blind:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "signpost_address_probes_blind", Help: "Whether most probed addresses failed at once when one was last judged, so that this worker assumes a fault of its own network."}),
	}
	for _, result := range []string{"ok", "failed", "unjudged"} {
		v.probes.WithLabelValues(result)
	}
	if registerer != nil {
		registerer.MustRegister(v.probes, v.blind)
	}
	return v
}

// enter takes up a target, unless its project has as many as it may have.
func (v *Vantage) enter(t *target) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.projects[t.project]
	if p == nil {
		p = &project{slots: make(chan struct{}, atOnceOfOne)}
		v.projects[t.project] = p
	}
	if p.targets >= mostOfProject {
		return false
	}
	p.targets++
	h := v.hosts[t.address]
	if h == nil {
		h = &host{slots: make(chan struct{}, atOnceOfHost), own: map[string]chan struct{}{}, checks: map[*target]bool{}}
		v.hosts[t.address] = h
	}
	if h.own[t.project] == nil {
		h.own[t.project] = make(chan struct{}, atOnceOfHost)
	}
	h.checks[t] = true
	return true
}

func (v *Vantage) leave(t *target) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.projects[t.project]
	p.targets--
	if p.targets == 0 {
		delete(v.projects, t.project)
	}
	h := v.hosts[t.address]
	delete(h.checks, t)
	if !h.checked(t.project) {
		delete(h.own, t.project)
	}
	if len(h.checks) == 0 {
		delete(v.hosts, t.address)
	}
}

// checked tells whether a project has the address checked.
func (h *host) checked(project string) bool {
	for t := range h.checks {
		if t.project == project {
			return true
		}
	}
	return false
}

// within runs a probe of a target as soon as the limits allow it. It answers false if ctx
// ends before. Slots that projects share are taken last: a project waits for its own with
// none of them.
func (v *Vantage) within(ctx context.Context, t *target, probe func()) bool {
	v.mu.Lock()
	of := v.hosts[t.address]
	slots := []chan struct{}{of.own[t.project], v.projects[t.project].slots, of.slots}
	v.mu.Unlock()
	return inside(ctx, slots, func() bool {
		select {
		case <-time.After(v.turn(of)):
		case <-ctx.Done():
			return false
		}
		return inside(ctx, []chan struct{}{v.slots}, func() bool {
			probe()
			return ctx.Err() == nil
		})
	})
}

// inside does what needs a slot of each, one taken after the other. It answers false if ctx
// ends before.
func inside(ctx context.Context, slots []chan struct{}, do func() bool) bool {
	if len(slots) == 0 {
		return do()
	}
	select {
	case slots[0] <- struct{}{}:
		defer func() { <-slots[0] }()
		return inside(ctx, slots[1:], do)
	case <-ctx.Done():
		return false
	}
}

// turn is how long the next probe of an address has to wait for the one before.
func (v *Vantage) turn(of *host) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	wait := max(of.next.Sub(now), 0)
	of.next = now.Add(wait + gapOfHost)
	return wait
}

// note takes up the outcome of a probe.
func (v *Vantage) note(t *target, at time.Time, failed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t.last, t.failed = at, failed
}

// judged notes whether an address counts as one that answers.
func (v *Vantage) judged(t *target, out bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t.out = out
}

// blindness says why an address that fails since a time may not be judged: most of the
// addresses that answered until then fail as well. It is empty if it may be. Addresses that
// were not probed since are waited for once, if they may decide that.
func (v *Vantage) blindness(t *target, since time.Time) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	tried, failing, awaited := 1, 1, 0
	for address, h := range v.hosts {
		if address == t.address {
			continue
		}
		is, fails := h.since(since)
		if is {
			tried++
		} else if h.answers() {
			awaited++
		}
		if fails {
			failing++
		}
	}
	if address.Freeze(failing, tried) == "" {
		v.blind.Set(0)
		if t.failures > t.spec.Failures || address.Freeze(failing+awaited, tried+awaited) == "" {
			return ""
		}
		return fmt.Sprintf("%s probes %d other addresses first, which may fail for the same reason", v.name, awaited)
	}
	v.blind.Set(1)
	return fmt.Sprintf("%d of %d probed addresses fail at once, so %s assumes a fault of its own network and does not judge them", failing, tried, v.name)
}

// answers tells whether an address counts as one that answers.
func (h *host) answers() bool {
	for t := range h.checks {
		if !t.out && !t.last.IsZero() {
			return true
		}
	}
	return false
}

// since tells whether an address that counts as one that answers was probed since a time,
// and whether each such probe failed.
func (h *host) since(at time.Time) (tried, failing bool) {
	failing = true
	for t := range h.checks {
		if t.out || t.last.Before(at) {
			continue
		}
		tried, failing = true, failing && t.failed
	}
	return tried, tried && failing
}
