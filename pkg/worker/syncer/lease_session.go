package syncer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/addressprobe"
	"github.com/signpost-dns/signpost/pkg/worker/apply"
	"github.com/signpost-dns/signpost/pkg/worker/index"
	"github.com/signpost-dns/signpost/pkg/worker/link"
	"github.com/signpost-dns/signpost/pkg/worker/lookup"
	"github.com/signpost-dns/signpost/pkg/worker/observe"
	"github.com/signpost-dns/signpost/pkg/worker/probe"
	"github.com/signpost-dns/signpost/pkg/worker/rsync"
	"github.com/signpost-dns/signpost/pkg/worker/state"
	"github.com/signpost-dns/signpost/pkg/worker/verify"
)

// Keys below which workers register, and own clusters.
const (
	memberPrefix = "/signpost/members/"
	workerPrefix = ledger.WorkerPrefix
)

const (
	leaseSeconds   = 15 // longer than any request to a cluster takes
	balanceEvery   = 2 * time.Second
	rescanTicks    = 15 // of balanceEvery
	shutdownAtMost = 4 * time.Second
	releaseAtMost  = 2 * time.Second
)

// leaseSession is the life of one lease of a worker: it shares the clusters with the
// other workers, and serves those that are its own.
type leaseSession struct {
	worker *Worker
	index  *index.Index
	lease  kv.Lease

	pointers  <-chan appcontext.Change
	members   *keys
	owners    *keys
	abandoned *keys
	rsynced   <-chan emco.Change // nil without rsync

	mu       sync.Mutex // for what run alone writes, and others read; never held while the store is asked
	workers  map[string]*running
	leftover map[string]bool // clusters that the ledger or the observations name
	others   map[string]bool // clusters that fell to another worker, or to nobody, when last looked at
	ended    chan string
}

// running is a cluster worker with its goroutines.
type running struct {
	worker *clusterWorker
	cancel context.CancelFunc
	done   chan struct{}
}

func newLeaseSession(ctx context.Context, w *Worker) (*leaseSession, error) {
	t := &leaseSession{
		worker: w, workers: map[string]*running{}, leftover: map[string]bool{}, ended: make(chan string),
	}
	t.index = index.New(w.options.Contexts, t.wakeClusters)
	if err := t.begin(ctx); err != nil {
		t.end(ctx)
		return nil, err
	}
	return t, nil
}

func (t *leaseSession) begin(ctx context.Context) error {
	store := t.worker.options.KV
	revision, err := t.index.Read(ctx)
	if err != nil {
		return err
	}
	t.pointers = t.worker.options.Contexts.Watch(ctx, revision+1)
	if t.lease, err = store.Lease(ctx, leaseSeconds); err != nil {
		return err
	}
	knows := fmt.Sprintf(`{"schema":%d}`, intent.Schema)
	register := kv.Op{Key: memberPrefix + t.worker.options.Member, Value: []byte(knows), Lease: t.lease.ID()}
	if _, _, err := store.Txn(ctx, nil, register); err != nil {
		return err
	}
	if t.members, err = watchKeys(ctx, store, memberPrefix); err != nil {
		return err
	}
	if t.owners, err = watchKeys(ctx, store, workerPrefix); err != nil {
		return err
	}
	if t.abandoned, err = watchKeys(ctx, store, ledger.AbandonedPrefix); err != nil {
		return err
	}
	if rsync := t.worker.options.Rsync; rsync != nil {
		t.rsynced = rsync.Watch(ctx, revision+1)
	}
	return t.rescan(ctx)
}

// rescan finds clusters that no pointer names any more but where something is
// left, perhaps by a worker that died.
func (t *leaseSession) rescan(ctx context.Context) error {
	inLedger, err := t.worker.ledger.Clusters(ctx)
	if err != nil {
		return err
	}
	seen, err := t.worker.observed.Clusters(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.leftover)
	for _, name := range append(inLedger, seen...) {
		t.leftover[name] = true
	}
	return nil
}

// run serves until the lease is lost or the worker ends.
func (t *leaseSession) run(ctx context.Context) error {
	tick := time.NewTicker(balanceEvery)
	defer tick.Stop()
	for ticks := 0; ; {
		t.balance(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.lease.Lost():
			t.worker.metrics.LeaseLost()
			return errors.New("the worker's lease is lost")
		case change, ok := <-t.pointers:
			if !ok {
				return errors.New("the watch of the pointers ended")
			}
			if err := t.follow(ctx, change); err != nil {
				return err
			}
		case batch, ok := <-t.members.changes:
			if err := t.members.take(ctx, batch, ok); err != nil {
				return err
			}
		case batch, ok := <-t.owners.changes:
			if err := t.owners.take(ctx, batch, ok); err != nil {
				return err
			}
		case batch, ok := <-t.abandoned.changes:
			if err := t.abandoned.take(ctx, batch, ok); err != nil {
				return err
			}
		case change := <-t.rsynced:
			t.wakeHandedOver(change)
		case name := <-t.worker.options.Connections.Changed():
			t.reconnect(name)
		case name := <-t.ended:
			t.forget(name)
		case <-tick.C:
			ticks++
			if ticks%rescanTicks != 0 {
				continue
			}
			if err := t.rescan(ctx); err != nil {
				return err
			}
		}
	}
}

// follow takes up changed pointers.
func (t *leaseSession) follow(ctx context.Context, change appcontext.Change) error {
	t.index.Update(change)
	if !change.Lost {
		return nil
	}
	_, err := t.index.Read(ctx)
	return err
}

func (t *leaseSession) wakeClusters(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		if r := t.workers[name]; r != nil {
			r.worker.Signals.Step.Wake()
			if t.index.Serves(name) { // else its worker ends, and forgets what was observed
				r.worker.Signals.Observe.Wake()
			}
		}
	}
}

// wakeHandedOver wakes the clusters for which rsync has done something.
func (t *leaseSession) wakeHandedOver(change emco.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.workers {
		r.worker.rsync.Changed(change)
	}
}

func (t *leaseSession) reconnect(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.workers[name]; r != nil {
		r.worker.link.Reconnect()
	}
}

func (t *leaseSession) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.workers, name)
	delete(t.leftover, name)
	t.worker.metrics.Of(name).End()
}

// mine lists the clusters that fall to this worker.
func (t *leaseSession) mine() map[string]bool {
	all := map[string]bool{}
	for _, name := range t.index.Names() {
		all[name] = true
	}
	t.mu.Lock()
	for name := range t.leftover {
		all[name] = true
	}
	t.mu.Unlock()
	others := map[string]bool{}
	for name := range all {
		if !t.serves(name) {
			delete(all, name)
			others[name] = true
		}
	}
	t.mu.Lock()
	t.others = others
	t.mu.Unlock()
	return all
}

// serves tells whether a cluster falls to this worker, if it has to be served.
func (t *leaseSession) serves(name string) bool {
	_, abandoned := t.abandoned.have[ledger.AbandonedPrefix+name]
	return !abandoned && t.preferred(name) == t.worker.options.Member
}

// preferred is the worker that a cluster falls to: the one whose hash with the cluster's
// name is the highest. All workers come to the same result.
func (t *leaseSession) preferred(name string) string {
	best, score := "", uint64(0)
	for key := range t.members.have {
		member := strings.TrimPrefix(key, memberPrefix)
		digest := sha256.Sum256([]byte(member + "\x00" + name))
		if sum := binary.BigEndian.Uint64(digest[:]); best == "" || sum > score || sum == score && member < best {
			best, score = member, sum
		}
	}
	return best
}

// balance begins to serve the clusters that fall to this worker as they become free. It
// releases those that fall to another one, or are abandoned. Keys of earlier cluster
// workers wait until those that end now have ended, which release their clusters
// themselves.
func (t *leaseSession) balance(ctx context.Context) {
	mine := t.mine()
	ending := false
	for name, r := range t.workers {
		if !mine[name] && !t.serves(name) {
			r.cancel()
			ending = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		owner := t.owners.have[workerPrefix+name]
		if t.workers[name] != nil || owner != "" && owner != t.worker.options.Member {
			continue
		}
		if err := t.take(ctx, name); err != nil {
			t.worker.options.Logger.WarnContext(ctx, "cluster cannot be taken over", "cluster", name, "error", err)
		}
	}
	t.worker.metrics.Owns(len(t.workers))
	if !ending {
		t.release(ctx, mine)
	}
}

// release gives back the clusters that are still this worker's by their keys though it
// neither serves them nor will. Releasing them has failed before.
func (t *leaseSession) release(ctx context.Context, mine map[string]bool) {
	store, member := t.worker.options.KV, t.worker.options.Member
	for _, key := range slices.Sorted(maps.Keys(t.owners.have)) {
		name := strings.TrimPrefix(key, workerPrefix)
		if t.owners.have[key] != member || mine[name] || t.workers[name] != nil {
			continue
		}
		item, _, err := store.Get(ctx, key)
		if err == nil && item != nil && string(item.Value) == member {
			_, _, err = store.Txn(ctx, []kv.Compare{kv.Unchanged(key, item)}, kv.Delete(key))
		}
		if err != nil {
			t.worker.options.Logger.WarnContext(ctx, "cluster cannot be released", "cluster", name, "error", err)
		}
	}
}

// take makes a free cluster this worker's, and serves it.
func (t *leaseSession) take(ctx context.Context, name string) error {
	fence, err := t.claim(ctx, name)
	if err != nil || fence == nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	r := &running{worker: t.newClusterWorker(name, *fence), cancel: cancel, done: make(chan struct{})}
	t.mu.Lock()
	t.workers[name] = r
	t.mu.Unlock()
	r.worker.Metrics.Begin()
	go t.keep(ctx, within, r)
	return nil
}

// claim writes the cluster's key. The revision that wrote it fences all that is written
// for the cluster. A key that is this worker's already is written anew, so that nothing
// of an earlier cluster worker can happen any more. If the cluster is another's, or
// abandoned, claim answers nil.
func (t *leaseSession) claim(ctx context.Context, name string) (*kv.Compare, error) {
	store, member := t.worker.options.KV, t.worker.options.Member
	key := workerPrefix + name
	put := kv.Op{Key: key, Value: []byte(member), Lease: t.lease.ID()}
	free, revision, err := store.Txn(ctx, []kv.Compare{{Key: key}, ledger.NotAbandoned(name)}, put)
	if err != nil {
		return nil, err
	}
	if free {
		return &kv.Compare{Key: key, ModRevision: revision}, nil
	}
	item, _, err := store.Get(ctx, key)
	if err != nil || item == nil || string(item.Value) != member {
		return nil, err
	}
	still, revision, err := store.Txn(ctx, []kv.Compare{kv.Unchanged(key, item)}, put)
	if err != nil || !still {
		return nil, err
	}
	return &kv.Compare{Key: key, ModRevision: revision}, nil
}

// newClusterWorker makes the worker of a cluster that is this worker's by a fence.
func (t *leaseSession) newClusterWorker(name string, fence kv.Compare) *clusterWorker {
	o := t.worker.options
	of := &state.Cluster{
		Name: name, Installation: o.Installation, Fence: fence, Index: t.index,
		Clock: o.Clock, Logger: o.Logger.With("cluster", name), Metrics: t.worker.metrics.Of(name), Signals: state.NewSignals(),
	}
	picture := &state.Picture{Cluster: of, Desired: state.NewDesired(of, o.Contexts), Ledger: state.NewLedger(of, t.worker.ledger)}
	lookups := lookup.New(o.Resolver, of.Clock, of.Logger, of.Offered)
	w := &clusterWorker{
		Picture: picture, link: link.New(of, picture.Ledger, o.Connections, o.Random),
		observer: observe.New(of, t.worker.observed, lookups), prober: probe.New(of), verifier: verify.New(of, o.Verifier, t.worker.observed),
		addresses: addressprobe.New(of, o.Vantage),
	}
	if o.Rsync == nil {
		w.executor = apply.New(picture, w.link, o.MayUse, o.Tracer)
	} else {
		w.rsync = rsync.New(picture, w.link, o.Rsync)
		w.executor = w.rsync
	}
	w.settledAt.Store(-1)
	return w
}

// keep runs a cluster worker within its own context, and gives the cluster back when it
// ends before the lease session does.
func (t *leaseSession) keep(ctx, within context.Context, r *running) {
	defer close(r.done)
	r.worker.run(within)
	r.cancel()
	if ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, releaseAtMost)
		_, _, _ = t.worker.options.KV.Txn(short, []kv.Compare{r.worker.Fence}, kv.Delete(r.worker.Fence.Key))
		cancel()
	}
	select {
	case t.ended <- r.worker.Name:
	case <-ctx.Done():
	}
}

// end releases everything. A cluster that hangs is not waited for: what it may still
// write is fenced off.
func (t *leaseSession) end(ctx context.Context) {
	t.mu.Lock()
	workers := t.workers
	t.workers = map[string]*running{}
	t.mu.Unlock()
	deadline := time.After(shutdownAtMost)
	for _, r := range workers {
		select {
		case <-r.done:
		case <-deadline:
			t.worker.options.Logger.WarnContext(ctx, "a cluster hangs, and the worker does not wait for it", "cluster", r.worker.Name)
			deadline = closed()
		}
		t.worker.metrics.Of(r.worker.Name).End()
	}
	t.worker.metrics.Owns(0)
	if t.lease == nil {
		return
	}
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseAtMost)
	defer cancel()
	if err := t.lease.Release(short); err != nil {
		t.worker.options.Logger.WarnContext(ctx, "the worker's lease was not released, and expires by itself", "error", err)
	}
}

func closed() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// loaded counts the clusters that fall to this worker, and those of them whose worker has begun.
func (t *leaseSession) loaded() (done, total int) {
	names := t.index.Names()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		if t.others[name] {
			continue
		}
		total++
		if r := t.workers[name]; r != nil && r.worker.began.Load() {
			done++
		}
	}
	return done, total
}

// idle tells whether nothing is left to do in the clusters that fall to this
// worker.
func (t *leaseSession) idle() bool {
	names := t.index.Names()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		if t.workers[name] == nil && !t.others[name] {
			return false
		}
	}
	for _, r := range t.workers {
		if !r.worker.isSettled() {
			return false
		}
	}
	return true
}
