// Package probe asks each external-dns and each nameserver of one cluster how it
// does.
package probe

import (
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// Prober asks each external-dns and each nameserver of one cluster how it
// does. It has a goroutine of its own, so that one that hangs holds up nothing
// else (I7).
type Prober struct {
	cluster     *state.Cluster
	began       time.Time
	externalDNS map[string]*externalDNSProbe             // by Deployment, "namespace/name"
	endpoints   map[state.Mark]map[string]state.Endpoint // by "namespace/name"
	dnsPods     map[string]*dnsPodProbe                  // by DaemonSet, "namespace/name"
}

// New makes a Prober that knows nothing yet.
func New(of *state.Cluster) *Prober {
	return &Prober{cluster: of, began: of.Clock.Now(), externalDNS: map[string]*externalDNSProbe{}, dnsPods: map[string]*dnsPodProbe{}, endpoints: map[state.Mark]map[string]state.Endpoint{}}
}

// probe is asked at times how it does.
type probe interface {
	look(watches cluster.Watches, clusterName string) (answers bool)
	due(now time.Time) time.Duration
	ask(ctx context.Context, target cluster.Target, clusterName string, clock pace.Clock)
}

// atOnce is how many external-dns and nameservers are asked at a time.
const atOnce = 8

// Run looks whenever something has changed or a question is due, until ctx
// ends.
func (e *Prober) Run(ctx context.Context) {
	pace.Loop(ctx, e.cluster.Clock, e.cluster.Signals.Probe, e.step)
}

// step looks at the pods of all, asks those whose turn it is, and answers when
// the next one's is.
func (e *Prober) step(ctx context.Context) time.Duration {
	clock := e.cluster.Clock
	began := clock.Now()
	e.take(e.cluster.TakeApplied())
	now := e.cluster.Snapshot()
	if now.Subjects == nil || now.Watches == nil {
		return askRarelyMost // it is called when the cluster can be seen again
	}
	e.follow(now.Subjects)
	at := clock.Now()
	var due []probe
	for _, one := range e.all() {
		if one.look(now.Watches, e.cluster.Name) && one.due(at) <= 0 {
			due = append(due, one)
		}
	}
	asking := clock.Now()
	e.ask(ctx, now.Watched, due)
	if ctx.Err() != nil {
		return 0
	}
	asked := clock.Now().Sub(asking)
	e.hand(ctx)
	e.rest(ctx, clock.Now().Sub(began)-asked)
	at = clock.Now()
	wait := askRarelyMost
	for _, one := range e.all() {
		wait = min(wait, one.due(at))
	}
	return wait
}

// A step looks at all DNSEndpoints of its external-dns. With very many of them it takes a while, and each change would
// have it repeated.
const (
	restShare = 20                    // a rest lasts so many times as long as the step has worked
	leastWork = 10 * time.Millisecond // for which it rests
	restMost  = 10 * time.Second
)

// rest has the prober work for a twentieth of the time at most.
func (e *Prober) rest(ctx context.Context, worked time.Duration) {
	if worked < leastWork {
		return
	}
	select {
	case <-ctx.Done():
	case <-e.cluster.Clock.After(min(restShare*worked, restMost)):
	}
}

func (e *Prober) all() []probe {
	var all []probe
	for _, key := range slices.Sorted(maps.Keys(e.externalDNS)) {
		all = append(all, e.externalDNS[key])
	}
	for _, key := range slices.Sorted(maps.Keys(e.dnsPods)) {
		all = append(all, e.dnsPods[key])
	}
	return all
}

// take takes up the DNSEndpoints that have changed.
func (e *Prober) take(changed map[bundle.ID]*state.Applied) {
	for id, now := range changed {
		key := id.Namespace + "/" + id.Name
		if now != nil {
			if _, known := e.endpoints[now.Mark][key]; known {
				e.endpoints[now.Mark][key] = now.Endpoint
				continue
			}
		}
		for mark, all := range e.endpoints {
			delete(all, key)
			if len(all) == 0 {
				delete(e.endpoints, mark)
			}
		}
		if now == nil {
			continue
		}
		if e.endpoints[now.Mark] == nil {
			e.endpoints[now.Mark] = map[string]state.Endpoint{}
		}
		e.endpoints[now.Mark][key] = now.Endpoint
	}
}

// follow takes up what is new, and forgets what is gone.
func (e *Prober) follow(ours *state.Subjects) {
	dnsPods := map[string]*dnsPodProbe{}
	for _, n := range ours.Nameservers {
		dnsPods[n.Key()] = e.dnsPods[n.Key()]
		if dnsPods[n.Key()] == nil {
			dnsPods[n.Key()] = &dnsPodProbe{}
		}
		dnsPods[n.Key()].Nameserver = n
	}
	e.dnsPods = dnsPods
	there := map[string]bool{}
	for _, p := range ours.Publishers {
		there[p.Key()] = true
		if e.externalDNS[p.Key()] == nil {
			e.externalDNS[p.Key()] = &externalDNSProbe{}
		}
		e.externalDNS[p.Key()].Publisher, e.externalDNS[p.Key()].endpoints = p, e.endpoints[p.Mark]
	}
	for key, c := range e.externalDNS {
		if !there[key] {
			e.cluster.Metrics.Forget(c.Metric())
			delete(e.externalDNS, key)
		}
	}
}

// ask asks several at a time. A pod that does not answer costs its goroutine the
// request's deadline.
func (e *Prober) ask(ctx context.Context, target cluster.Target, due []probe) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, one := range due {
		group.Go(func() error {
			if ctx.Err() == nil {
				one.ask(ctx, target, e.cluster.Name, e.cluster.Clock)
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
}

// hand gives the findings to the observer, and tells the log what has changed.
func (e *Prober) hand(ctx context.Context) {
	f := &state.Findings{
		Trouble: map[string]string{}, Sync: map[string]*observed.Sync{},
		Endpoints: map[string]bool{}, Published: map[string]observed.Published{}, Nameservers: map[string]state.Finding{},
	}
	for key, c := range e.externalDNS {
		f.Trouble[key] = c.trouble
		if c.sync != nil {
			found := *c.sync
			f.Sync[key] = &found
		}
		for key := range c.endpoints {
			f.Endpoints[key] = true
			if p, ok := c.through[key]; ok {
				f.Published[key] = p
			}
		}
		c.tellPublished(e.cluster.Metrics, e.began)
		c.log(ctx, e.cluster.Logger)
		e.cluster.Metrics.Probed(c.Metric(), c.told())
	}
	for key, i := range e.dnsPods {
		f.Nameservers[key] = state.Finding{Trouble: i.trouble, DNS: i.dns}
		i.log(ctx, e.cluster.Logger)
	}
	e.cluster.SetFindings(f)
}
