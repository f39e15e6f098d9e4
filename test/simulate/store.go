package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// store is the key-value store as a part of a process reaches it.
type store struct {
	*process
	part string // "controller" or "worker"
}

func (s store) ask(ctx context.Context, verb, key, point string, do func(ctx context.Context) error) error {
	part, serves := s.part, ""
	if part == "worker" {
		serves = s.servant(verb, key)
		if part += serves; serves == "" && mainLoop(verb, key) {
			part = "worker main"
		}
	}
	c := &call{
		process: s.process, name: s.name + " " + part + " " + verb + " " + key, caller: caller(), marks: marks(ctx), point: point,
		expired: func() bool { return ctx.Err() != nil },
		do:      func() error { return do(context.WithoutCancel(ctx)) }, fail: storeFails, may: storeFaults(point != ""),
	}
	if verb == "let go" && serves != "" { // its answer, too, has the main loop told something
		c.barred = func() bool { return !s.isParked() && !errors.Is(ctx.Err(), context.Canceled) }
	}
	return s.world.pass(c)
}

// Get implements kv.KV.
func (s store) Get(ctx context.Context, key string) (item *kv.Item, revision int64, err error) {
	err = s.ask(ctx, "get", key, "", func(ctx context.Context) error {
		item, revision, err = s.world.kv.Get(ctx, key)
		return err
	})
	return item, revision, err
}

// Range implements kv.KV.
func (s store) Range(ctx context.Context, r kv.Range) (items []kv.Item, revision int64, err error) {
	about := append([]string{r.Prefix}, r.Keys[:min(1, len(r.Keys))]...) // those that follow may depend on what else was just read
	err = s.ask(ctx, "range", strings.TrimSpace(strings.Join(about, " ")), "", func(ctx context.Context) error {
		items, revision, err = s.world.kv.Range(ctx, r)
		return err
	})
	return items, revision, err
}

// Txn implements kv.KV.
func (s store) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (done bool, revision int64, err error) {
	point, key := pointOf(then)
	verb := point
	if point == "" {
		verb = "compare"
	}
	err = s.ask(ctx, verb, key, point, func(ctx context.Context) error {
		before := s.world.kv.Revision()
		done, revision, err = s.world.kv.Txn(ctx, when, then...)
		if s.world.kv.Revision() != before {
			s.world.written(s.process, then)
		}
		return err
	})
	return done, revision, err
}

// Ping implements kv.KV.
func (s store) Ping(ctx context.Context) error {
	return s.ask(ctx, "ping", "", "", s.world.kv.Ping)
}

// pointOf names a write by what it is for, and the key that it is about.
func pointOf(then []kv.Op) (point, key string) {
	if len(then) == 0 {
		return "", ""
	}
	ops := slices.SortedFunc(slices.Values(then), func(a, b kv.Op) int { return cmp.Compare(weight(a), weight(b)) })
	first := ops[0]
	if strings.HasPrefix(first.Key, "/signpost/current/") {
		return currentPoint(ops), first.Key
	}
	for _, p := range points() {
		if strings.HasPrefix(first.Key, p.prefix) && strings.Contains(first.Key, p.within) && first.Delete == p.delete {
			return p.name, first.Key
		}
	}
	return "unnamed", first.Key
}

// currentPoint tells apart what makes a context current, rewrites one in
// place, or takes one away.
func currentPoint(ops []kv.Op) string {
	kind := "group"
	if _, _, _, is := ownerOf(ops[0].Key).Provider(); is {
		kind = "provider"
	}
	deed := "withdraw "
	for _, op := range ops {
		switch {
		case strings.HasPrefix(op.Key, "/context/") && strings.HasSuffix(op.Key, "/meta/"):
			return "commit name" // a plain context is laid out and made current at once
		case strings.HasPrefix(op.Key, "/context/"):
			deed = "rewrite "
		case op.Delete && strings.HasPrefix(op.Key, "/signpost/claim/"):
			deed = "commit "
		}
	}
	return deed + kind
}

// weight orders the keys of a transaction by what says most about it.
func weight(op kv.Op) int {
	prefixes := []string{"/signpost/current/", "/signpost/doc/", "/context/", "/signpost/claim/"}
	for i, prefix := range prefixes {
		if strings.HasPrefix(op.Key, prefix) {
			return i
		}
	}
	return len(prefixes)
}

// point is a kind of write. Before and after each of them a process may die.
type point struct {
	name, prefix, within string
	delete               bool
}

func points() []point {
	return []point{
		{"swap record lifecycle", "/signpost/doc/lifecycle/", "/dns-update-records/", false},
		{"swap lifecycle", "/signpost/doc/lifecycle/", "", false},
		{"put document", "/signpost/doc/", "", false},
		{"delete document", "/signpost/doc/", "", true},
		{"save release", "/signpost/release/", "", false},
		{"drop release", "/signpost/release/", "", true},
		{"lay out context", "/context/", "", false},
		{"remove context", "/context/", "", true},
		{"claim context", "/signpost/claim/", "", false},
		{"claim names", "/signpost/name/", "", false},
		{"free names", "/signpost/name/", "", true},
		{"settle removals", "/signpost/removals/", "", false},
		{"forget removals", "/signpost/removals/", "", true},
		{"permit removals", "/signpost/permits/", "", false},
		{"use a permit", "/signpost/permits/", "", true},
		{"note cleanups", "/signpost/cleanups/", "", false},
		{"end cleanups", "/signpost/cleanups/", "", true},
		{"forget leftovers", "/signpost/leftovers/", "", true},
		{"write ledger", "/signpost/ledger/", "", false},
		{"forget in ledger", "/signpost/ledger/", "", true},
		{"note identity", "/signpost/cluster/", "", false},
		{"register", "/signpost/members/", "", false},
		{"take over", "/signpost/workers/", "", false},
		{"let go", "/signpost/workers/", "", true},
		{"observe service", "/signpost/observed/", "/service/", false},
		{"forget service", "/signpost/observed/", "/service/", true},
		{"observe deployment", "/signpost/observed/", "/deployment/", false},
		{"forget deployment", "/signpost/observed/", "/deployment/", true},
		{"observe reachability", "/signpost/observed/", "/reachability", false},
		{"forget reachability", "/signpost/observed/", "/reachability", true},
	}
}

// watch is a watch of the store, whose news the scheduler hands over.
type watch struct {
	store
	prefix string
	in     <-chan kv.Batch
	head   *kv.Batch // the next one
	by     string    // the goroutine that watches

	mu    sync.Mutex
	out   chan kv.Batch
	ended bool
}

// Watch implements kv.KV.
func (s store) Watch(ctx context.Context, prefix string, from int64) <-chan kv.Batch {
	v := &watch{store: s, prefix: s.part + " " + prefix, in: s.world.kv.Watch(ctx, prefix, from), out: make(chan kv.Batch), by: goroutine()}
	context.AfterFunc(ctx, v.close)
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.process.watches = append(s.process.watches, v)
	slices.SortStableFunc(s.process.watches, func(a, b *watch) int { return cmp.Compare(a.prefix, b.prefix) })
	return v.out
}

// Follow implements kv.KV. Nobody follows here.
func (s store) Follow(ctx context.Context, prefix string, from int64, _ time.Duration) <-chan kv.Batch {
	return s.Watch(ctx, prefix, from)
}

func (v *watch) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	close(v.out)
}

// ready tells whether there is news that can be handed over. Who watches is told
// nothing while it waits at an edge, so that it never has two things to choose from.
func (v *watch) ready() bool {
	if v.world.asks(v.by) {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return false
	}
	if v.head == nil {
		select {
		case batch := <-v.in:
			v.head = &batch
		default:
			return false
		}
	}
	return v.part != "worker" || v.isParked()
}

// deliver hands the news over, or says that history was lost.
func (v *watch) deliver() {
	w := v.world
	batch := *v.head
	if v.part == "worker" && !w.calm && w.random.Float64() < w.profile.faults/4 {
		w.trace.add("  ! history lost")
		w.faults["history lost"]++
		batch = kv.Batch{Revision: batch.Revision, Compacted: true}
	}
	if v.part == "worker" {
		v.stir()
	}
	select {
	case v.out <- batch:
		v.head = nil
	default:
	}
}

// lease is a lease of the store.
type lease struct {
	kv.Lease
	store
	lost chan struct{}
	tell func()
	over bool // the holder is to learn that it is lost
	told bool
}

// Lease implements kv.KV.
func (s store) Lease(ctx context.Context, seconds int) (kv.Lease, error) {
	l := &lease{store: s, lost: make(chan struct{})}
	var mu sync.Mutex
	l.tell = func() {
		mu.Lock()
		defer mu.Unlock()
		if !l.told {
			l.told = true
			l.stir()
			close(l.lost)
		}
	}
	err := s.ask(ctx, "lease", "", "grant lease", func(ctx context.Context) (err error) {
		l.Lease, err = s.world.kv.Lease(ctx, seconds)
		return err
	})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, l.tell)
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.process.leases = append(s.process.leases, l)
	return l, nil
}

// Lost implements kv.Lease.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release implements kv.Lease.
func (l *lease) Release(ctx context.Context) error {
	l.tell()
	return l.ask(ctx, "release", fmt.Sprint("lease ", l.ID()), "release lease", l.Lease.Release)
}

// runOut ends the lease in the store.
func (l *lease) runOut() {
	l.over = true
	l.world.kv.Expire(l.ID())
}
