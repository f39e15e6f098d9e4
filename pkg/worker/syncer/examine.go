package syncer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// examiner asks each external-dns and each nameserver of one cluster how it
// does. It has a goroutine of its own, so that one that hangs holds up nothing
// else (I7).
type examiner struct {
	tenure      *tenure
	checkups    map[string]*checkup    // by Deployment, "namespace/name"
	inspections map[string]*inspection // by DaemonSet, "namespace/name"
}

func newExaminer(t *tenure) *examiner {
	return &examiner{tenure: t, checkups: map[string]*checkup{}, inspections: map[string]*inspection{}}
}

// examinee is asked at times how it does.
type examinee interface {
	look(watches cluster.Watches) (answers bool)
	due(now time.Time) time.Duration
	ask(ctx context.Context, target cluster.Target, clusterName string, clock Clock)
}

// findings are what the examiner found, for the observer to store.
type findings struct {
	trouble     map[string]string             // what keeps pods from running, by Deployment
	sync        map[string]*observed.Sync     // by Deployment
	endpoints   map[string]bool               // the DNSEndpoints ("namespace/name") that are to be published
	published   map[string]observed.Published // those that were seen to be
	nameservers map[string]finding            // by DaemonSet
}

// finding is what the examiner found about a nameserver.
type finding struct {
	trouble string        // what keeps a pod from running
	dns     *observed.DNS // nil: not known
}

const (
	examineGap = 500 * time.Millisecond // at least between two looks
	askers     = 8                      // external-dns and nameservers that are asked at a time
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

// step looks at the pods of all, asks those whose turn it is, and answers when
// the next one's is.
func (e *examiner) step(ctx context.Context) time.Duration {
	ours, watches, target := e.subjects()
	if watches == nil {
		return askRarelyMost // it is called when the cluster can be seen again
	}
	e.follow(ours)
	now := e.tenure.clock.Now()
	var due []examinee
	for _, one := range e.all() {
		if one.look(watches) && one.due(now) <= 0 {
			due = append(due, one)
		}
	}
	e.ask(ctx, target, due)
	if ctx.Err() != nil {
		return 0
	}
	e.hand(ctx)
	now = e.tenure.clock.Now()
	wait := askRarelyMost
	for _, one := range e.all() {
		wait = min(wait, one.due(now))
	}
	return wait
}

func (e *examiner) all() []examinee {
	var all []examinee
	for _, key := range slices.Sorted(maps.Keys(e.checkups)) {
		all = append(all, e.checkups[key])
	}
	for _, key := range slices.Sorted(maps.Keys(e.inspections)) {
		all = append(all, e.inspections[key])
	}
	return all
}

// subjects are what there is to be examined, and the ways to do so; none while
// the cluster cannot be seen.
func (e *examiner) subjects() (*subjects, cluster.Watches, cluster.Target) {
	t := e.tenure
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.subjects == nil {
		return nil, nil, nil
	}
	return t.subjects, t.watches, t.watched
}

// follow takes up what is new, and forgets what is gone.
func (e *examiner) follow(ours *subjects) {
	inspections := map[string]*inspection{}
	for _, n := range ours.nameservers {
		inspections[n.key()] = e.inspections[n.key()]
		if inspections[n.key()] == nil {
			inspections[n.key()] = &inspection{}
		}
		inspections[n.key()].nameserver = n
	}
	e.inspections = inspections
	there := map[string]bool{}
	for _, p := range ours.publishers {
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
func (e *examiner) ask(ctx context.Context, target cluster.Target, due []examinee) {
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
		endpoints: map[string]bool{}, published: map[string]observed.Published{}, nameservers: map[string]finding{},
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
	for key, i := range e.inspections {
		f.nameservers[key] = finding{i.trouble, i.dns}
		i.log(ctx, t.logger)
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
