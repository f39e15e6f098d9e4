package syncer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/cluster"
	"github.com/signpost-dns/signpost/pkg/observed"
)

// examiner asks each external-dns of one cluster how it does. It has a
// goroutine of its own, so that one that hangs holds up nothing else (I7).
type examiner struct {
	tenure   *tenure
	checkups map[string]*checkup // by Deployment, "namespace/name"
}

// findings are what the examiner found, for the observer to store.
type findings struct {
	trouble   map[string]string             // what keeps pods from running, by Deployment
	sync      map[string]*observed.Sync     // by Deployment
	endpoints map[string]bool               // the DNSEndpoints ("namespace/name") that are to be published
	published map[string]observed.Published // those that were seen to be
}

const (
	examineGap = 500 * time.Millisecond // at least between two looks
	askers     = 8                      // external-dns that are asked at a time
)

// examine looks whenever something has changed or a question is due, until ctx
// ends.
func (t *tenure) examine(ctx context.Context, e *examiner) {
	for {
		wait := e.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.clock.After(examineGap):
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wakeExaminer:
		case <-t.clock.After(wait - examineGap):
		}
	}
}

// step looks at the pods of each external-dns, asks those whose turn it is,
// and answers when the next one's is.
func (e *examiner) step(ctx context.Context) time.Duration {
	publishers, watches, target := e.subjects()
	if watches == nil {
		return askRarelyMost // it is called when the cluster can be seen again
	}
	e.follow(publishers)
	now := e.tenure.clock.Now()
	var due []*checkup
	for _, key := range slices.Sorted(maps.Keys(e.checkups)) {
		c := e.checkups[key]
		if !c.look(watches) {
			continue
		}
		if c.due(now) <= 0 {
			due = append(due, c)
		}
	}
	e.ask(ctx, target, due)
	if ctx.Err() != nil {
		return 0
	}
	e.hand(ctx)
	now = e.tenure.clock.Now()
	wait := askRarelyMost
	for _, c := range e.checkups {
		wait = min(wait, c.due(now))
	}
	return wait
}

// subjects are what there is to be examined, and the ways to do so; none while
// the cluster cannot be seen.
func (e *examiner) subjects() ([]publisher, cluster.Watches, cluster.Target) {
	t := e.tenure
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.published {
		return nil, nil, nil
	}
	return t.publishing, t.watches, t.watched
}

// follow takes up external-dns that are new, and forgets those that are gone.
func (e *examiner) follow(publishers []publisher) {
	there := map[string]bool{}
	for _, p := range publishers {
		there[p.key()] = true
		if e.checkups[p.key()] == nil {
			e.checkups[p.key()] = &checkup{}
		}
		e.checkups[p.key()].publisher = p
	}
	for key, c := range e.checkups {
		if !there[key] {
			e.tenure.metrics.forget(c.mark)
			delete(e.checkups, key)
		}
	}
}

// ask asks several at a time. One that does not answer costs its asker the
// request's deadline.
func (e *examiner) ask(ctx context.Context, target cluster.Target, due []*checkup) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(askers, len(due)) {
		group.Go(func() {
			for i := next.Add(1); i <= int64(len(due)) && ctx.Err() == nil; i = next.Add(1) {
				due[i-1].ask(ctx, target, e.tenure.name, e.tenure.clock)
			}
		})
	}
	group.Wait()
}

// hand gives the findings to the observer, and tells the log what has changed.
func (e *examiner) hand(ctx context.Context) {
	t := e.tenure
	f := &findings{
		trouble: map[string]string{}, sync: map[string]*observed.Sync{},
		endpoints: map[string]bool{}, published: map[string]observed.Published{},
	}
	for key, c := range e.checkups {
		f.trouble[key] = c.trouble
		if c.sync != nil {
			found := *c.sync
			f.sync[key] = &found
		}
		for _, endpoint := range c.endpoints {
			name := endpoint.ID.Namespace + "/" + endpoint.ID.Name
			f.endpoints[name] = true
			if p, ok := c.through[endpoint.ID]; ok {
				f.published[name] = p
			}
		}
		c.log(ctx, t.logger)
		t.metrics.examined(c)
	}
	t.mu.Lock()
	t.findings = f
	t.mu.Unlock()
	wake(t.wakeLook)
}

// joined are the texts that say something, as one.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; ")
}
