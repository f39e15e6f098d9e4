package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/names"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
	"github.com/signpost-dns/signpost/pkg/tracing"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/syncer"
)

// installation is the generated id that all replicas share.
const installation = "k7wq2m9xhdr4"

// process is one life of a replica: the whole of Signpost but for the HTTP
// edge, over edges that the scheduler owns.
type process struct {
	world     *world
	name      string // "a.1": replica a's first life
	slot      int    // of the replica
	documents intent.Store
	service   *release.Service
	random    *rand.Rand    // the worker's jitter
	skew      time.Duration // how far its clock goes ahead
	end       context.CancelFunc

	frozen  time.Time // nothing of it happens before
	dead    bool      // under world.mu
	watches []*watch
	leases  []*lease
	views   []*view
	timers  []*timer

	mu     sync.Mutex
	serves map[string]string // goroutine to the cluster that it serves
	parked bool              // the worker's main loop waits for something to happen
}

// beginAll starts all replicas. Each knows the others from the start: which of them began
// first is not to matter.
func (w *world) beginAll() {
	for slot := range w.replicas {
		w.registered[nameOf(slot, 1)] = time.Time{}
	}
	for slot := range w.replicas {
		w.begin(slot)
	}
}

// nameOf is the name of a replica in one of its lives.
func nameOf(slot, life int) string { return fmt.Sprintf("%c.%d", 'a'+slot, life) }

// begin starts a replica's next life.
func (w *world) begin(slot int) {
	w.lives[slot]++
	p := &process{
		world: w, slot: slot, name: nameOf(slot, w.lives[slot]),
		serves: map[string]string{},
		random: rand.New(rand.NewPCG(w.seed, uint64(w.lives[slot]*8+slot))),
	}
	if w.profile.skewed {
		p.skew = time.Duration(p.random.Int64N(int64(2*mostSkew))) - mostSkew
	}
	if w.profile.rivalled {
		p.skew = time.Duration(slot) * mostSkew // each two of them disagree on whether a claim is too old
	}
	ctx, end := context.WithCancel(context.Background())
	p.end = end
	own, workers := &snapshot.Store{KV: store{p, "controller"}}, &snapshot.Store{KV: store{p, "worker"}}
	documents := etcd.New(own, etcd.WithClock(p.now))
	p.documents = names.New(documents)
	p.service = release.New(release.Options{
		Documents: p.documents, KV: own, DocumentKey: etcd.Key, Contexts: appcontext.NewStore(own, p.now),
		Ledger: ledger.New(own), Observed: observed.New(own),
		Watch: documents.WatchAll, Replicas: p, Installation: installation, Now: p.now, Logger: slog.New(slog.DiscardHandler),
	})
	worker := syncer.New(syncer.Options{
		KV: workers, Contexts: &reader{Store: appcontext.NewStore(workers, p.now), world: w},
		Connections: p, MayUse: p.service.NamespaceRefused, Installation: installation, Member: p.name, Clock: clock{p}, Random: p.jitter,
	})
	w.replicas[slot] = p
	w.mu.Lock()
	w.registered[p.name] = time.Time{}
	w.mu.Unlock()
	w.running.Go(func() { _ = release.NewController(p.service).Run(ctx) }) // ends with ctx, and says nothing
	w.running.Go(func() { _ = worker.Run(ctx) })
}

// skewedOneIn of the seeds has processes whose clocks go wrong, by so much at most
// either way.
const (
	skewedOneIn = 3
	mostSkew    = 2 * time.Minute
)

// now is the time by the process' own clock.
func (p *process) now() time.Time { return time.Now().Add(p.skew) }

func (p *process) jitter() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.Float64()
}

// crash ends a process at once: nothing that it has under way happens any
// more, and its leases run out by themselves.
func (w *world) crash(p *process) {
	w.mu.Lock()
	if p.dead {
		w.mu.Unlock()
		return
	}
	p.dead = true
	w.crashes++
	w.registered[p.name] = time.Now().Add(leaseRunsOut)
	mine := func(c *call) bool { return c.process == p }
	var cut []*call
	for _, c := range w.pending {
		if mine(c) {
			cut = append(cut, c)
		}
	}
	w.pending = slices.DeleteFunc(w.pending, mine)
	w.mu.Unlock()
	p.end()
	for _, c := range cut {
		c.answer <- c.fail(dead)
	}
	for _, l := range p.leases {
		w.after(leaseRunsOut, "lease of "+p.name+" runs out", l.runOut)
	}
	w.after(time.Duration(1+w.random.IntN(longestAbsence))*time.Second, "restart "+p.name, func() { w.begin(p.slot) })
}

const (
	leaseRunsOut   = 15 * time.Second
	longestAbsence = 20 // seconds until a crashed process begins again
)

// ID implements controller.Replicas.
func (p *process) ID() string { return p.name }

// Working implements controller.Replicas: a process counts until its lease has run out.
func (p *process) Working() []string {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	var names []string
	for name, until := range p.world.registered {
		if until.IsZero() || time.Now().Before(until) {
			names = append(names, name)
		}
	}
	return names
}

// living are the processes that run.
func (w *world) living() []*process {
	return slices.DeleteFunc(slices.Clone(w.replicas), func(p *process) bool { return p == nil || p.dead })
}

// choices lists what a process can learn of: news, changed clusters, time.
func (p *process) choices(now time.Time) []choice {
	var out []choice
	for _, v := range p.watches {
		if v.ready() {
			out = append(out, choice{p.name + " hears of " + v.prefix, v.deliver})
		}
	}
	for _, l := range p.leases {
		if l.over && p.isParked() && !l.told {
			out = append(out, choice{p.name + " learns that its lease is lost", l.tell})
		}
	}
	for _, v := range p.views {
		if v.behind() {
			out = append(out, choice{p.name + " sees " + v.site.name, v.catchUp})
		}
	}
	for _, t := range p.timers {
		if !t.due.After(now) {
			out = append(out, choice{p.name + " timer", t.fire})
		}
	}
	return out
}

// Connect implements syncer.Connections.
func (p *process) Connect(_ context.Context, name string) (cluster.Target, error) {
	return p.connect(p.world.sites[name]), nil
}

// Changed implements syncer.Connections. It is called whenever the worker's
// main loop has nothing left to do and waits for something to happen.
func (p *process) Changed() <-chan string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parked = true
	return nil
}

// isParked tells whether the worker's main loop waits. Only then is it told
// anything, so that it never has two things to choose from.
func (p *process) isParked() bool {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	for _, c := range p.world.pending {
		if c.process == p && strings.HasPrefix(c.name, p.name+" worker main") {
			return false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parked
}

// stir notes that the worker's main loop has been given something to do.
func (p *process) stir() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parked = false
}

// clock is a process' time. To look at it is a moment at which others may
// come first.
type clock struct{ *process }

// Now implements syncer.Clock.
func (c clock) Now() time.Time {
	_ = c.world.pass(&call{
		process: c.process, name: c.name + " worker" + c.servant("clock", "") + " clock", caller: caller(),
		expired: func() bool { return false }, do: func() error { return nil }, fail: func(fault) error { return nil },
	}) // a clock does not fail
	return c.now()
}

// timer fires when it is due.
type timer struct {
	process *process
	due     time.Time
	out     chan time.Time
}

// After implements syncer.Clock.
func (c clock) After(d time.Duration) <-chan time.Time {
	t := &timer{process: c.process, due: time.Now().Add(d), out: make(chan time.Time)}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.timers = append(c.timers, t)
	slices.SortStableFunc(c.timers, func(a, b *timer) int { return a.due.Compare(b.due) })
	return t.out
}

// fire tells whoever waits for it, if anybody still does.
func (t *timer) fire() {
	t.process.timers = slices.DeleteFunc(t.process.timers, func(other *timer) bool { return other == t })
	select {
	case t.out <- t.process.now():
	default:
	}
}

// caller tells from where a call came, so that calls that look the same and
// come at the same time have an order.
func caller() uint64 {
	const skipped, looked = 3, 8
	var frames [looked]uintptr
	sum := uint64(0)
	for _, at := range frames[:runtime.Callers(skipped, frames[:])] {
		sum = sum*1099511628211 + uint64(at)
	}
	return sum
}

// marks is what log lines of a context would say besides their text.
func marks(ctx context.Context) string {
	var line strings.Builder
	handler := tracing.Handler(slog.NewTextHandler(&line, nil))
	_ = handler.Handle(ctx, slog.Record{}) // a Builder takes everything
	return line.String()
}

// goroutine names the calling goroutine.
func goroutine() string {
	const enough = 32 // bytes of "goroutine 1234 [running]:"
	var text [enough]byte
	id, _, _ := strings.Cut(string(text[:runtime.Stack(text[:], false)]), "[")
	return id
}

// asks tells whether a goroutine waits at an edge.
func (w *world) asks(goroutine string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.pending, func(c *call) bool { return c.goroutine == goroutine })
}

// servant names the cluster that the calling goroutine serves, which tells
// apart what is otherwise the same question. Each of a worker's goroutines
// begins by reading what is known of its cluster.
func (p *process) servant(verb, key string) string {
	id := goroutine()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, prefix := range []string{"/signpost/ledger/", "/signpost/observed/"} {
		of, is := strings.CutPrefix(key, prefix)
		if cluster, _, whole := strings.Cut(of, "/"); is && whole && verb == "range" && p.serves[id] == "" {
			p.serves[id] = " " + cluster
		}
	}
	return p.serves[id]
}

// mainLoop tells the store's requests of a worker's main loop from those of
// the goroutines that serve a cluster.
func mainLoop(verb, key string) bool {
	switch {
	case strings.HasPrefix(key, "/signpost/workers/"):
		return true
	case key == "/signpost/ledger/", key == "/signpost/observed/":
		return verb == "range"
	}
	return false
}

var _ kv.KV = store{}
