package syncer

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// reach connects to the cluster where that is needed, and tells whether it can
// be reached. While it cannot, each step sends one probe and nothing else. An
// error is the store's.
func (t *clusterWorker) reach(ctx context.Context) (bool, error) {
	if t.reconnect.Swap(false) {
		t.disconnect()
	}
	now := t.clock.Now()
	if t.verified && t.failures == 0 && now.Before(t.nextProbe) && !t.suspicious(now) {
		return true, nil
	}
	uid, err := t.probe(ctx)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	now = t.clock.Now()
	if err != nil {
		t.unreachable(ctx, now, err)
		return false, nil
	}
	if err := t.identify(ctx, uid); err != nil {
		return false, err
	}
	t.pendingCreates.answers(t.failures > 0, now)
	t.failures, t.nextProbe = 0, now.Add(probeInterval)
	t.lookAgain(func(id bundle.ID) bool { return t.entries[id].Shared }) // no watch tells of others' objects
	t.report(observed.Reachability{Reachable: true, Since: now.UTC()})
	return true, nil
}

// suspicious tells whether a watch gives reason to probe ahead of time.
func (t *clusterWorker) suspicious(now time.Time) bool {
	w := t.watching()
	return w != nil && w.Trouble() != nil && now.After(t.nextProbe.Add(probeGap-probeInterval))
}

func (t *clusterWorker) probe(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, connectAtMost)
	defer cancel()
	if t.target == nil {
		target, err := t.connections.Connect(ctx, t.name)
		if err != nil {
			return "", err
		}
		t.target = t.metrics.Counted(target)
	}
	return t.target.Identity(ctx)
}

// unreachable notes a failed probe. The next one waits longer each time.
func (t *clusterWorker) unreachable(ctx context.Context, now time.Time, err error) {
	if t.failures == 0 {
		t.logger.WarnContext(ctx, "cluster cannot be reached", "message", err.Error())
	}
	wait := pace.Backoff(pace.RetryFirst, pace.RetryLongest, t.failures)
	t.failures++
	t.nextProbe = now.Add(wait/2 + time.Duration(t.random()*float64(wait)))
	seen := observed.Reachability{Message: err.Error(), Since: now.UTC()}
	if silent(err) {
		seen.Counted = now.UTC()
	}
	t.report(t.asRsyncSees(seen))
}

// silent tells whether the cluster failed to answer as it should. One that says
// no to Signpost is there, and so may be one that Signpost does not know how to
// reach.
func silent(err error) bool {
	var e *cluster.Error
	return errors.As(err, &e) && e.Fault == cluster.Unreachable && e.Code != http.StatusUnauthorized
}

// suspect has the next step probe before it does anything.
func (t *clusterWorker) suspect() { t.nextProbe = time.Time{} }

// identify makes sure that the entries speak of the cluster that answered. A
// cluster that was built anew under an old name starts over.
func (t *clusterWorker) identify(ctx context.Context, uid string) error {
	if t.verified && uid == t.uid {
		return nil
	}
	t.unwatch()
	known, err := t.ledger.Identity(ctx, t.name)
	if err != nil {
		return err
	}
	switch known {
	case uid:
	case "":
		err = t.ledger.Adopt(ctx, t.fence, t.name, uid)
	default:
		t.logger.WarnContext(ctx, "the cluster is another one under an old name: all objects are created again", "was", known, "is", uid)
		err = t.ledger.Reset(ctx, t.fence, t.name, uid)
		if err == nil {
			clear(t.entries)
			clear(t.dirty)
			clear(t.attempts)
			clear(t.pendingCreates)
		}
	}
	if err != nil {
		return err
	}
	t.verified, t.uid = true, uid
	t.watch(ctx)
	t.logger.InfoContext(ctx, "cluster reached")
	return nil
}

// watch begins to watch the cluster, until the cluster worker ends.
func (t *clusterWorker) watch(ctx context.Context) {
	w := t.target.Watch(ctx, cluster.Notify{
		Objects:   func() { wake(t.wakeStep) },
		Addresses: func() { wake(t.wakeLook) },
		Pods:      func() { wake(t.wakeProber) },
	})
	t.mu.Lock()
	t.watches, t.watched = w, t.target
	t.mu.Unlock()
}

// unwatch forgets all that was seen of the cluster.
func (t *clusterWorker) unwatch() {
	t.mu.Lock()
	watches := t.watches
	t.watches, t.watched = nil, nil
	t.mu.Unlock()
	if watches != nil {
		watches.Stop()
	}
	t.verified = false
}

// disconnect lets go of the connection.
func (t *clusterWorker) disconnect() {
	t.unwatch()
	if t.target != nil {
		t.target.Close()
	}
	t.target, t.nextProbe = nil, time.Time{}
	clear(t.served)
}

func (t *clusterWorker) watching() cluster.Watches {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watches
}

// report hands the cluster's state to the observing goroutine, which stores it.
// What is counted goes on from one report to the next.
func (t *clusterWorker) report(r observed.Reachability) {
	r.Owner = t.fence.ModRevision
	t.mu.Lock()
	if t.health != nil && !t.health.Counted.IsZero() && !r.Counted.IsZero() {
		r.Counted = t.health.Counted
	}
	changed := t.health == nil || t.health.Reachable != r.Reachable || t.health.Message != r.Message || t.health.Counted != r.Counted
	if changed {
		t.health = &r
	}
	t.mu.Unlock()
	t.metrics.Reachable(r.Reachable)
	if changed {
		wake(t.wakeLook)
	}
}

func (t *clusterWorker) healthMessage() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.health == nil {
		return ""
	}
	return t.health.Message
}
