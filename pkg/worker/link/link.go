// Package link keeps the connection to one cluster. It probes whether the cluster
// answers, compares its identity with the one in the ledger, and watches it.
package link

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// ProbeInterval is how often a cluster that answers is probed.
const ProbeInterval = 10 * time.Second

// ConnectAtMost is how long connecting and one probe may take.
const ConnectAtMost = 10 * time.Second

// probeGap is at least between two probes that something gave reason for.
const probeGap = time.Second

// Connections connects to clusters.
type Connections interface {
	// Connect answers the cluster ("provider+cluster"). An error says, in words for the
	// user, why the cluster cannot be reached. Its document may be gone, it may be
	// inventory only, or its settings may not parse.
	Connect(ctx context.Context, name string) (cluster.Target, error)
}

// Listener is told what becomes of the connection.
type Listener interface {
	// Replaced tells that the cluster is another one under its old name: nothing
	// that was known of it is true any more.
	Replaced()

	// Answered tells that a probe was answered, after one that was not if back.
	Answered(back bool, now time.Time)

	// Judge answers what is told of a cluster that did not answer a probe.
	Judge(seen observed.Reachability) observed.Reachability
}

// Link is the connection to one cluster. The goroutine that steps the cluster is
// the only one that uses it, but for Reconnect; during a step several may read it.
type Link struct {
	*state.Cluster
	ledger      *state.Ledger
	connections Connections
	random      func() float64
	reconnect   atomic.Bool // the connection's settings have changed

	target    cluster.Target
	served    map[cluster.Kind]bool
	verified  bool   // the target is the cluster that the ledger speaks of
	uid       string // by which it identified itself
	nextProbe time.Time
	failures  int // probes in a row that failed
}

// New makes a Link that is not connected yet. random is in [0,1), for jitter.
func New(of *state.Cluster, ledger *state.Ledger, connections Connections, random func() float64) *Link {
	return &Link{Cluster: of, ledger: ledger, connections: connections, random: random, served: map[cluster.Kind]bool{}}
}

// Reconnect has the next step connect anew.
func (l *Link) Reconnect() {
	l.reconnect.Store(true)
	l.Signals.Step.Wake()
}

// Target answers the cluster, nil while there is no connection.
func (l *Link) Target() cluster.Target { return l.target }

// Answers tells whether the last probe was answered, by the cluster that the
// ledger speaks of.
func (l *Link) Answers() bool { return l.verified && l.failures == 0 }

// NextProbe answers how long it takes until the next probe is due.
func (l *Link) NextProbe(now time.Time) time.Duration { return max(0, l.nextProbe.Sub(now)) }

// Sight answers what is seen of an object: nothing, unless the cluster is the one
// that the ledger speaks of.
func (l *Link) Sight(id bundle.ID, atLeast string) cluster.Sight {
	if w := l.Watches(); w != nil && l.verified {
		return w.Object(id, atLeast)
	}
	return cluster.Sight{}
}

// Establish answers nil once the cluster serves the kind.
func (l *Link) Establish(ctx context.Context, kind cluster.Kind) error {
	if l.served[kind] {
		return nil
	}
	ok, err := l.target.Established(ctx, kind)
	if err != nil {
		return err
	}
	if !ok {
		return &fault.Error{Fault: cluster.NotServed, Message: "the cluster does not serve the kind " + kind.Kind + " yet"}
	}
	l.served[kind] = true
	return nil
}

// NotServed forgets that the cluster serves a kind.
func (l *Link) NotServed(kind cluster.Kind) { delete(l.served, kind) }

// Reach connects to the cluster where that is needed, and tells whether it can
// be reached. While it cannot, each step sends one probe and nothing else. An
// error is the store's.
func (l *Link) Reach(ctx context.Context, to Listener) (bool, error) {
	if l.reconnect.Swap(false) {
		l.Disconnect()
	}
	now := l.Clock.Now()
	if l.verified && l.failures == 0 && now.Before(l.nextProbe) && !l.suspicious(now) {
		return true, nil
	}
	uid, err := l.probe(ctx)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	now = l.Clock.Now()
	if err != nil {
		l.unreachable(ctx, to, now, err)
		return false, nil
	}
	if err := l.identify(ctx, to, uid); err != nil {
		return false, err
	}
	to.Answered(l.failures > 0, now)
	l.failures, l.nextProbe = 0, now.Add(ProbeInterval)
	l.SetHealth(observed.Reachability{Reachable: true, Since: now.UTC()})
	return true, nil
}

// suspicious tells whether a watch gives reason to probe ahead of time.
func (l *Link) suspicious(now time.Time) bool {
	w := l.Watches()
	return w != nil && w.Trouble() != nil && now.After(l.nextProbe.Add(probeGap-ProbeInterval))
}

func (l *Link) probe(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectAtMost)
	defer cancel()
	if l.target == nil {
		target, err := l.connections.Connect(ctx, l.Name)
		if err != nil {
			return "", err
		}
		l.target = l.Metrics.Counted(target)
	}
	return l.target.Identity(ctx)
}

// unreachable notes a failed probe. The next one waits longer each time.
func (l *Link) unreachable(ctx context.Context, to Listener, now time.Time, err error) {
	if l.failures == 0 {
		l.Logger.WarnContext(ctx, "cluster cannot be reached", "message", err.Error())
	}
	wait := pace.Backoff(pace.RetryFirst, pace.RetryLongest, l.failures)
	l.failures++
	l.nextProbe = now.Add(wait/2 + time.Duration(l.random()*float64(wait)))
	seen := observed.Reachability{Message: err.Error(), Since: now.UTC()}
	if silent(err) {
		seen.Counted = now.UTC()
	}
	l.SetHealth(to.Judge(seen))
}

// silent tells whether the cluster failed to answer as it should. A cluster that refuses
// Signpost is there, and so may be a cluster that Signpost does not know how to reach.
func silent(err error) bool {
	var e *fault.Error
	return errors.As(err, &e) && e.Fault == fault.Unreachable && e.Code != http.StatusUnauthorized
}

// Suspect has the next step probe before it does anything.
func (l *Link) Suspect() { l.nextProbe = time.Time{} }

// identify makes sure that the entries speak of the cluster that answered. A
// cluster that was built anew under an old name starts over.
func (l *Link) identify(ctx context.Context, to Listener, uid string) error {
	if l.verified && uid == l.uid {
		return nil
	}
	l.unwatch()
	known, err := l.ledger.Identity(ctx)
	if err != nil {
		return err
	}
	switch known {
	case uid:
	case "":
		err = l.ledger.Adopt(ctx, uid)
	default:
		l.Logger.WarnContext(ctx, "the cluster is another one under an old name: all objects are created again", "was", known, "is", uid)
		err = l.ledger.Reset(ctx, uid)
		if err == nil {
			to.Replaced()
		}
	}
	if err != nil {
		return err
	}
	l.verified, l.uid = true, uid
	l.watch(ctx)
	l.Logger.InfoContext(ctx, "cluster reached")
	return nil
}

// watch begins to watch the cluster, until the cluster worker ends.
func (l *Link) watch(ctx context.Context) {
	w := l.target.Watch(ctx, cluster.Notify{
		Objects:   l.seen,
		Addresses: l.Offered,
		Workloads: l.Signals.Observe.Wake,
		Pods:      l.Signals.Probe.Wake,
		Published: l.published,
	})
	l.SetWatches(w, l.target)
}

// seen has the next step decide about objects that have changed in the cluster; without
// any, about all. The prober looks at them, too.
func (l *Link) seen(changed ...bundle.ID) {
	l.add(&l.Agenda, changed)
	l.Signals.Step.Wake()
	l.Signals.Probe.Wake()
}

// published has the prober look at DNSEndpoints of which external-dns, or the built-in publisher, tells something else;
// without any, at all of them.
func (l *Link) published(changed ...bundle.ID) {
	l.add(&l.Publications, changed)
	l.Signals.Probe.Wake()
}

// add puts objects that have changed in the cluster on an agenda; without any, all.
func (l *Link) add(to *state.Agenda, changed []bundle.ID) {
	if len(changed) == 0 {
		to.AddAll()
	}
	for _, id := range changed {
		id.Cluster = l.Name
		to.Add(id)
	}
}

// unwatch forgets all that was seen of the cluster.
func (l *Link) unwatch() {
	if watches := l.SetWatches(nil, nil); watches != nil {
		watches.Stop()
	}
	l.verified = false
}

// Disconnect closes the connection.
func (l *Link) Disconnect() {
	l.unwatch()
	if l.target != nil {
		l.target.Close()
	}
	l.target, l.nextProbe = nil, time.Time{}
	clear(l.served)
}
