package syncer

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/tracing"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/index"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// clusterWorker is one worker's ownership of one cluster, from taking over to letting
// go. Its step is synchronous and is called by one goroutine; what the
// observing one needs of it is behind mu.
type clusterWorker struct {
	name         string
	installation string
	fence        kv.Compare
	contexts     Contexts
	connections  Connections
	index        *index.Index
	ledger       *ledger.Ledger
	rsync        *handover.Store // nil: this worker writes to the cluster itself
	mayUse       func(ctx context.Context, cluster, namespace string, owners []string) (refused string, err error)
	clock        pace.Clock
	random       func() float64
	logger       *slog.Logger
	tracer       *tracing.Tracer
	metrics      *metrics.Cluster

	// The step's own.
	loaded         bool
	entries        map[bundle.ID]ledger.Entry
	dirty          map[bundle.ID]bool // entries that the store does not have yet, or still has
	desired        desired
	attempts       attempts
	waiting        waiting
	pendingCreates pendingCreates
	contests       contests
	recheck        map[bundle.ID]bool
	target         cluster.Target
	served         map[cluster.Kind]bool
	verified       bool   // the target is the cluster that the entries speak of
	uid            string // by which it identified itself
	nextProbe      time.Time
	failures       int  // probes in a row that failed
	unused         bool // the last step found nothing left to serve
	handed         map[appcontext.Owner]*handover.Handover
	looked         time.Time // when all that was handed over was last looked at

	ownedAt atomic.Pointer[time.Time] // when the cluster was last read to be this worker's

	reconnect    atomic.Bool  // the connection's settings have changed
	rsyncChanged atomic.Bool  // rsync has done something
	settledAt    atomic.Int64 // the index's count of moves up to which nothing is left to do, -1 for none
	wakeStep     chan struct{}
	wakeLook     chan struct{}
	wakeProber   chan struct{}
	wakeVerifier chan struct{}

	mu        sync.Mutex
	watches   cluster.Watches
	watched   cluster.Target // whose watches these are
	health    *observed.Reachability
	subjects  *subjects                    // nil before the first
	known     map[string]bool              // the contexts that were handed over
	findings  *findings                    // of the prober, nil before the first
	questions *questions                   // to the verifier, nil before the first
	answers   map[string]*observed.Answers // that the verifier has, by DNSEndpoint; nil before the first
}

// subjects are what is ours to be observed.
type subjects struct {
	deployments, daemonSets []string // "namespace/name"
	publishers              []publisher
	nameservers             []nameserver
}

// Rhythm of a cluster worker.
const (
	probeInterval = 10 * time.Second // of a cluster that answers
	probeGap      = time.Second      // at least between two probes that something gave reason for
	connectAtMost = 10 * time.Second
)

// step brings the cluster one step nearer to what is wanted, and answers when
// the next one is due at the latest. An error is the store's, or
// ledger.ErrLost; a cluster that cannot be reached is none.
func (t *clusterWorker) step(ctx context.Context) (time.Duration, error) {
	moves := t.index.Moved(t.name)
	if err := t.load(ctx); err != nil {
		return 0, err
	}
	if t.empty() {
		t.unused = true
		return 0, nil
	}
	if err := t.desired.load(ctx, t.index, t.contexts, t.name, t.installation, t.entries); err != nil {
		return 0, err
	}
	if t.rsync != nil {
		return t.handOver(ctx, moves)
	}
	t.updateQuestions()
	reachable, err := t.reach(ctx)
	if err != nil {
		return 0, err
	}
	now := t.clock.Now()
	actions, err := t.plan(ctx)
	if err != nil {
		return 0, err
	}
	t.recordPending(actions)
	t.await(actions, now)
	if !reachable {
		t.deferApply(actions, "the cluster cannot be reached: "+t.healthMessage())
		t.settledAt.Store(-1)
		return max(0, t.nextProbe.Sub(now)), t.flush(ctx)
	}
	if err := t.flush(ctx); err != nil {
		return 0, err
	}
	t.follow()
	due := t.due(actions, now)
	if err := t.execute(ctx, due); err != nil {
		return 0, err
	}
	t.publish()
	return t.rest(actions, moves), nil
}

// load reads the cluster's entries, once.
func (t *clusterWorker) load(ctx context.Context) error {
	if t.loaded {
		return nil
	}
	entries, _, err := t.ledger.Cluster(ctx, t.name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		t.entries[e.ID] = e
	}
	t.pendingCreates.inherit(t.entries, t.clock.Now())
	if t.rsync != nil {
		if t.handed, err = t.rsync.Cluster(ctx, t.name, t.fence); err != nil {
			return err
		}
	}
	t.loaded = true
	return nil
}

// plan decides about every object. What is to be deleted is decided on
// pointers that were read just now: an owner who came in between keeps its
// objects.
func (t *clusterWorker) plan(ctx context.Context) ([]action, error) {
	actions := t.decideAll()
	if !slices.ContainsFunc(actions, func(a action) bool { return a.want == nil }) {
		return actions, nil
	}
	if _, err := t.index.Refresh(ctx); err != nil {
		return nil, err
	}
	if err := t.desired.load(ctx, t.index, t.contexts, t.name, t.installation, t.entries); err != nil {
		return nil, err
	}
	return t.decideAll(), nil
}

func (t *clusterWorker) decideAll() []action {
	ids := map[bundle.ID]bool{}
	for id := range t.desired.objects {
		ids[id] = true
	}
	for id := range t.entries {
		ids[id] = true
	}
	var actions []action
	for _, id := range slices.SortedFunc(maps.Keys(ids), bundle.Compare) {
		want := t.desired.objects[id]
		var entry *ledger.Entry
		version := ""
		if e, ok := t.entries[id]; ok {
			entry, version = &e, e.ResourceVersion
		}
		a := decide(id, want, entry, t.sight(id, version))
		if a.operation == nothing && t.recheck[id] && want != nil {
			a = a.do(create, "looked at again")
		}
		if t.index.Suspended(ownersOf(want, entry)) {
			a = a.do(nothing, "suspended")
		}
		if a.operation != nothing {
			actions = append(actions, a)
			continue
		}
		t.annotate(id, want)
	}
	return actions
}

// ownersOf are those whose object it is: who wants it, else who wanted it last.
func ownersOf(want *wanted, entry *ledger.Entry) []string {
	switch {
	case want != nil:
		return want.owners
	case entry != nil:
		return entry.Owners
	}
	return nil
}

func (t *clusterWorker) sight(id bundle.ID, atLeast string) cluster.Sight {
	if w := t.watching(); w != nil && t.verified {
		return w.Object(id, atLeast)
	}
	return cluster.Sight{}
}

// annotate notes who wants an object that needs nothing done.
func (t *clusterWorker) annotate(id bundle.ID, want *wanted) {
	e, ok := t.entries[id]
	if !ok || want == nil {
		return
	}
	e.Owners, e.Losing, e.Going, e.Kept = want.owners, want.losing, false, false
	if e.Status == ledger.Applied && e.CreatedByUs {
		e.Message = want.message
	}
	t.set(e)
}

// recordPending writes down what is about to be done, before the first request.
func (t *clusterWorker) recordPending(actions []action) {
	for _, a := range actions {
		e, known := t.entries[a.id]
		switch {
		case a.want == nil:
			e.Going = true
		case !known:
			e = ledger.Entry{ID: a.id, Status: ledger.Pending, Shared: a.want.shared, Owners: a.want.owners, Losing: a.want.losing}
		default:
			e.Owners, e.Losing, e.Going, e.Kept = a.want.owners, a.want.losing, false, false
		}
		if a.operation == create && e.Status == ledger.Applied && e.CreatedByUs {
			e.Status = ledger.Pending // it is missing
		}
		t.set(e)
	}
}

// await notes what waits to be done.
func (t *clusterWorker) await(actions []action, now time.Time) {
	var oldest time.Time
	t.waiting, oldest = t.waiting.after(actions, now)
	t.metrics.Waits(oldest)
}

// due leaves out the actions whose objects rest.
func (t *clusterWorker) due(actions []action, now time.Time) []action {
	var out []action
	for _, a := range actions {
		if ok, _ := t.attempts.due(a, now); ok {
			delete(t.recheck, a.id)
			out = append(out, a)
		}
	}
	return out
}

// isSettled tells whether nothing is left to do, as far as is known.
func (t *clusterWorker) isSettled() bool { return t.settledAt.Load() == t.index.Moved(t.name) }

// rest answers how long nothing needs to be done, unless something happens.
func (t *clusterWorker) rest(actions []action, moves int64) time.Duration {
	settled := int64(-1)
	if len(actions) == 0 && len(t.recheck) == 0 {
		settled = moves
	}
	t.settledAt.Store(settled)
	now := t.clock.Now()
	wait := pace.Settled
	for _, a := range actions {
		ok, until := t.attempts.due(a, now)
		if ok {
			return 0 // something was done: look whether that was all
		}
		wait = min(wait, until.Sub(now))
	}
	if len(t.recheck) > 0 {
		wait = min(wait, servedFirst)
	}
	return max(0, min(wait, t.nextProbe.Sub(now)))
}

// empty tells whether there is nothing to serve.
func (t *clusterWorker) empty() bool {
	return len(t.entries) == 0 && len(t.dirty) == 0 && len(t.handed) == 0 && len(t.index.Pointers(t.name)) == 0
}

// follow has the watches see the kinds of all objects that may be ours, the
// namespaces whose Services matter, or where an external-dns or a nameserver
// runs, and the nodes if a placement is held against them.
func (t *clusterWorker) follow() {
	kinds, homes := map[cluster.Kind]bool{}, map[string]bool{}
	for id, e := range t.entries {
		if want := t.desired.objects[id]; want != nil && (isExternalDNS(id, want) || isNameserver(id, want)) {
			homes[id.Namespace] = true
		}
		if !foreign(e) {
			kinds[cluster.KindOf(id)] = true
		}
	}
	namespaces := map[string]bool{}
	for service := range t.index.Services(t.name) {
		namespaces[namespaceOf(service)] = true
	}
	interest := cluster.Interest{
		Namespaces: slices.Sorted(maps.Keys(namespaces)), Pods: slices.Sorted(maps.Keys(homes)),
		Nodes: len(t.index.Placements(t.name)) > 0,
	}
	for kind := range kinds {
		interest.Kinds = append(interest.Kinds, kind)
	}
	if w := t.watching(); w != nil {
		w.Follow(interest)
	}
}

// publish tells the observing goroutines which workloads are ours, and what the
// external-dns among them are to publish.
func (t *clusterWorker) publish() {
	now := &subjects{
		deployments: t.ours(deploymentKind()), daemonSets: t.ours(daemonSetKind()),
		publishers: t.publishers(), nameservers: t.nameservers(),
	}
	t.mu.Lock()
	before := t.subjects
	t.subjects = now
	t.mu.Unlock()
	wake(t.wakeProber)
	if before == nil || !slices.Equal(before.deployments, now.deployments) || !slices.Equal(before.daemonSets, now.daemonSets) {
		wake(t.wakeLook)
	}
}

// set changes an entry in memory, and remembers to store it.
func (t *clusterWorker) set(e ledger.Entry) {
	before, known := t.entries[e.ID]
	if known && before.Equal(e) {
		return
	}
	if !known || before.Status != e.Status || before.Digest != e.Digest {
		e.Since = t.clock.Now().UTC()
	}
	t.entries[e.ID] = e
	t.dirty[e.ID] = true
}

func (t *clusterWorker) drop(id bundle.ID) {
	delete(t.entries, id)
	delete(t.recheck, id)
	t.dirty[id] = true
}

// flush stores what has changed. What could not be stored is tried again with
// the next flush.
func (t *clusterWorker) flush(ctx context.Context) error {
	if len(t.dirty) == 0 {
		return nil
	}
	var put []ledger.Entry
	var remove []bundle.ID
	for _, id := range slices.SortedFunc(maps.Keys(t.dirty), bundle.Compare) {
		if e, ok := t.entries[id]; ok {
			put = append(put, e)
		} else {
			remove = append(remove, id)
		}
	}
	if err := t.ledger.Write(ctx, t.fence, put, remove); err != nil {
		return err
	}
	t.metrics.Entries(t.entries)
	clear(t.dirty)
	return nil
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
