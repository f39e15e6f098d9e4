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
	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// prober asks each external-dns and each nameserver of one cluster how it
// does. It has a goroutine of its own, so that one that hangs holds up nothing
// else (I7).
type prober struct {
	worker      *clusterWorker
	externalDNS map[string]*externalDNSProbe // by Deployment, "namespace/name"
	dnsPods     map[string]*dnsPodProbe      // by DaemonSet, "namespace/name"
}

func newProber(t *clusterWorker) *prober {
	return &prober{worker: t, externalDNS: map[string]*externalDNSProbe{}, dnsPods: map[string]*dnsPodProbe{}}
}

// probe is asked at times how it does.
type probe interface {
	look(watches cluster.Watches) (answers bool)
	due(now time.Time) time.Duration
	ask(ctx context.Context, target cluster.Target, clusterName string, clock pace.Clock)
}

// findings are what the prober found, for the observer to store.
type findings struct {
	trouble     map[string]string             // what keeps pods from running, by Deployment
	sync        map[string]*observed.Sync     // by Deployment
	endpoints   map[string]bool               // the DNSEndpoints ("namespace/name") that are to be published
	published   map[string]observed.Published // those that were seen to be
	nameservers map[string]finding            // by DaemonSet
}

// finding is what the prober found about a nameserver.
type finding struct {
	trouble string        // what keeps a pod from running
	dns     *observed.DNS // nil: not known
}

const (
	proberGap = 500 * time.Millisecond // at least between two looks
	askers    = 8                      // external-dns and nameservers that are asked at a time
)

// probePods looks whenever something has changed or a question is due, until ctx
// ends.
func (t *clusterWorker) probePods(ctx context.Context, e *prober) {
	for {
		wait := e.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.clock.After(proberGap):
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wakeProber:
		case <-t.clock.After(wait - proberGap):
		}
	}
}

// step looks at the pods of all, asks those whose turn it is, and answers when
// the next one's is.
func (e *prober) step(ctx context.Context) time.Duration {
	ours, watches, target := e.subjects()
	if watches == nil {
		return askRarelyMost // it is called when the cluster can be seen again
	}
	e.follow(ours)
	now := e.worker.clock.Now()
	var due []probe
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
	now = e.worker.clock.Now()
	wait := askRarelyMost
	for _, one := range e.all() {
		wait = min(wait, one.due(now))
	}
	return wait
}

func (e *prober) all() []probe {
	var all []probe
	for _, key := range slices.Sorted(maps.Keys(e.externalDNS)) {
		all = append(all, e.externalDNS[key])
	}
	for _, key := range slices.Sorted(maps.Keys(e.dnsPods)) {
		all = append(all, e.dnsPods[key])
	}
	return all
}

// subjects are what there is to be probed, and the ways to do so; none while
// the cluster cannot be seen.
func (e *prober) subjects() (*subjects, cluster.Watches, cluster.Target) {
	t := e.worker
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.subjects == nil {
		return nil, nil, nil
	}
	return t.subjects, t.watches, t.watched
}

// follow takes up what is new, and forgets what is gone.
func (e *prober) follow(ours *subjects) {
	dnsPods := map[string]*dnsPodProbe{}
	for _, n := range ours.nameservers {
		dnsPods[n.key()] = e.dnsPods[n.key()]
		if dnsPods[n.key()] == nil {
			dnsPods[n.key()] = &dnsPodProbe{}
		}
		dnsPods[n.key()].nameserver = n
	}
	e.dnsPods = dnsPods
	there := map[string]bool{}
	for _, p := range ours.publishers {
		there[p.key()] = true
		if e.externalDNS[p.key()] == nil {
			e.externalDNS[p.key()] = &externalDNSProbe{}
		}
		e.externalDNS[p.key()].publisher = p
	}
	for key, c := range e.externalDNS {
		if !there[key] {
			e.worker.metrics.Forget(c.mark.metric())
			delete(e.externalDNS, key)
		}
	}
}

// ask asks several at a time. One that does not answer costs its asker the
// request's deadline.
func (e *prober) ask(ctx context.Context, target cluster.Target, due []probe) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(askers, len(due)) {
		group.Go(func() {
			for i := next.Add(1); i <= int64(len(due)) && ctx.Err() == nil; i = next.Add(1) {
				due[i-1].ask(ctx, target, e.worker.name, e.worker.clock)
			}
		})
	}
	group.Wait()
}

// hand gives the findings to the observer, and tells the log what has changed.
func (e *prober) hand(ctx context.Context) {
	t := e.worker
	f := &findings{
		trouble: map[string]string{}, sync: map[string]*observed.Sync{},
		endpoints: map[string]bool{}, published: map[string]observed.Published{}, nameservers: map[string]finding{},
	}
	for key, c := range e.externalDNS {
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
		t.metrics.Probed(c.mark.metric(), c.told())
	}
	for key, i := range e.dnsPods {
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
