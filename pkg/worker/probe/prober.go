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
	cluster      *state.Cluster
	began        time.Time
	externalDNS  map[string]*externalDNSProbe // by Deployment, "namespace/name"
	publications map[state.Mark]*publication  // whether there is an external-dns for them or not
	told         bool                         // the observer knows which DNSEndpoints are to be published
	dnsPods      map[string]*dnsPodProbe      // by DaemonSet, "namespace/name"
}

// New makes a Prober that knows nothing yet.
func New(of *state.Cluster) *Prober {
	return &Prober{cluster: of, began: of.Clock.Now(), externalDNS: map[string]*externalDNSProbe{}, dnsPods: map[string]*dnsPodProbe{}, publications: map[state.Mark]*publication{}}
}

// probe is asked at times how it does.
type probe interface {
	look(watches cluster.Watches) (answers bool)
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
	now, applied := e.cluster.TakeApplied()
	changed := e.take(applied)
	if now.Subjects == nil || now.Watches == nil {
		return askRarelyMost // it is called when the cluster can be seen again, to look at all
	}
	e.follow(now.Subjects)
	e.lookAt(changed, now.Watches)
	at := clock.Now()
	var due []probe
	for _, one := range e.all() {
		if one.look(now.Watches) && one.due(at) <= 0 {
			due = append(due, one)
		}
	}
	e.ask(ctx, now.Watched, due)
	if ctx.Err() != nil {
		return 0
	}
	e.hand(ctx)
	at = clock.Now()
	wait := askRarelyMost
	for _, one := range e.all() {
		wait = min(wait, one.due(at))
	}
	return wait
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

// take takes up the DNSEndpoints that have changed, and answers which these are.
func (e *Prober) take(applied map[bundle.ID]*state.Applied) (changed map[string]bool) {
	changed = map[string]bool{}
	for id, now := range applied {
		key := id.Namespace + "/" + id.Name
		changed[key] = true
		if now != nil {
			p := e.publication(now.Mark)
			_, known := p.endpoints[key]
			p.apply(key, now.Endpoint)
			if known {
				continue
			}
		}
		for mark, p := range e.publications {
			if now == nil || mark != now.Mark {
				p.remove(key)
			}
		}
	}
	return changed
}

// publication is that of a mark.
func (e *Prober) publication(mark state.Mark) *publication {
	if e.publications[mark] == nil {
		e.publications[mark] = newPublication()
	}
	return e.publications[mark]
}

// lookAt looks at the DNSEndpoints that have changed, and at those of which the cluster tells something else.
func (e *Prober) lookAt(changed map[string]bool, watches cluster.Watches) {
	ids, all := e.cluster.Publications.Take()
	for id := range ids {
		changed[id.Namespace+"/"+id.Name] = true
	}
	for _, c := range e.externalDNS {
		c.lookAt(changed, all, watches, e.cluster.Name)
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
		if c := e.externalDNS[p.Key()]; c == nil || c.Publisher != p {
			e.leave(p.Key())
			e.externalDNS[p.Key()] = &externalDNSProbe{Publisher: p, publication: e.publication(p.Mark), unseen: true}
		}
	}
	for key := range e.externalDNS {
		if !there[key] {
			e.leave(key)
		}
	}
}

// leave forgets an external-dns, if there is one.
func (e *Prober) leave(key string) {
	if c := e.externalDNS[key]; c != nil {
		c.publication.forget()
		e.cluster.Metrics.Forget(c.Metric())
		delete(e.externalDNS, key)
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
		Trouble: map[string]string{}, Sync: map[string]*observed.Sync{}, Nameservers: map[string]state.Finding{},
	}
	for key, c := range e.externalDNS {
		f.Trouble[key] = c.trouble
		if c.sync != nil {
			found := *c.sync
			f.Sync[key] = &found
		}
		c.tellPublished(e.cluster.Metrics, e.began)
		c.log(ctx, e.cluster.Logger)
		e.cluster.Metrics.Probed(c.Metric(), c.told())
	}
	for key, i := range e.dnsPods {
		f.Nameservers[key] = state.Finding{Trouble: i.trouble, DNS: i.dns}
		i.log(ctx, e.cluster.Logger)
	}
	e.cluster.SetFindings(f, e.published())
}

// published answers what has changed of the DNSEndpoints that are published since it was called before.
func (e *Prober) published() state.Published {
	wanted := map[*publication]bool{}
	for _, c := range e.externalDNS {
		wanted[c.publication] = true
	}
	out := state.Published{Changed: map[string]*observed.Published{}}
	if !e.told {
		e.told, out.All = true, map[string]bool{}
		for p := range wanted {
			for key := range p.endpoints {
				out.All[key] = true
			}
		}
	}
	for mark, p := range e.publications {
		for key := range p.changed {
			if now, known := p.publishes(key, wanted); known {
				out.Changed[key] = now
			}
		}
		clear(p.changed)
		if len(p.endpoints) == 0 && !wanted[p] {
			delete(e.publications, mark)
		}
	}
	return out
}
