// Package state keeps what the parts of one cluster's worker know: what current contexts
// want, what the ledger says, and what each part has found.
package state

import (
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/index"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// Cluster is what the parts of one cluster's worker share. Its exported fields do
// not change. It is safe for concurrent use.
type Cluster struct {
	Name         string
	Installation string
	Fence        kv.Compare // of all that is written for the cluster
	Index        *index.Index
	Clock        pace.Clock
	Logger       *slog.Logger
	Metrics      *metrics.Cluster

	Signals      Signals
	Agenda       Agenda
	Looks        Agenda // Services, by namespace and name, that the observer is to look at; without a name: those of the namespace
	Publications Agenda // DNSEndpoints whose publication the prober is to look at

	stale stale // what the step has not told of yet

	mu        sync.Mutex
	now       Snapshot
	questions questions
	published Published
	answers   map[string]*observed.Answers // those that have changed since the observer asked last, by DNSEndpoint; nil: they are to be forgotten
	applied   map[bundle.ID]*Applied       // what has changed of the DNSEndpoints since the prober asked last; nil: it is none any more
}

// stale are the objects of which something has changed that matters for what is verified, and for what is probed.
type stale struct{ asked, applied Agenda }

// Snapshot is what the parts have told last. Nothing in it is changed any more.
type Snapshot struct {
	Watches  cluster.Watches // nil: the cluster is not watched
	Watched  cluster.Target  // whose Watches these are
	Health   *observed.Reachability
	Subjects *Subjects                  // nil before the first
	Findings *Findings                  // of the probes, nil before the first
	Probes   map[string]observed.Probes // of addresses, by DNSEndpoint; nil before the first
}

// Signals wake the goroutines of a cluster's worker.
type Signals struct{ Step, Observe, Probe, Verify, Addresses Signal }

// NewSignals makes Signals of which none is given.
func NewSignals() Signals {
	return Signals{Step: make(Signal, 1), Observe: make(Signal, 1), Probe: make(Signal, 1), Verify: make(Signal, 1), Addresses: make(Signal, 1)}
}

// Signal wakes a goroutine.
type Signal chan struct{}

// Wake gives the signal. It does not block.
func (s Signal) Wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Snapshot answers what the parts have told last.
func (c *Cluster) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Watches answers how to see the cluster, nil while it is not watched.
func (c *Cluster) Watches() cluster.Watches { return c.Snapshot().Watches }

// SetWatches tells how to see the cluster, and answers how it was seen before.
func (c *Cluster) SetWatches(watches cluster.Watches, of cluster.Target) (before cluster.Watches) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.now.Watches
	c.now.Watches, c.now.Watched = watches, of
	c.Agenda.AddAll()
	c.Looks.AddAll()
	c.Publications.AddAll()
	c.Signals.Probe.Wake()
	return before
}

// Offered has the observer look at a Service that offers something else; without a name, at those of the namespace, and
// without both at all.
func (c *Cluster) Offered(namespace, service string) {
	if namespace == "" {
		c.Looks.AddAll()
	} else {
		c.Looks.Add(bundle.ID{Namespace: namespace, Name: service})
	}
	c.Signals.Observe.Wake()
}

// SetHealth tells whether the cluster can be reached. The time since when the cluster
// counts as unreachable stays from one report to the next.
func (c *Cluster) SetHealth(r observed.Reachability) {
	r.Owner = c.Fence.ModRevision
	c.mu.Lock()
	before := c.now.Health
	if before != nil && !before.Counted.IsZero() && !r.Counted.IsZero() {
		r.Counted = before.Counted
	}
	changed := before == nil || before.Reachable != r.Reachable || before.Message != r.Message || before.Counted != r.Counted
	if changed {
		c.now.Health = &r
	}
	c.mu.Unlock()
	c.Metrics.Reachable(r.Reachable)
	if changed {
		c.Signals.Observe.Wake()
	}
}

// HealthMessage says why the cluster cannot be reached.
func (c *Cluster) HealthMessage() string {
	if health := c.Snapshot().Health; health != nil {
		return health.Message
	}
	return ""
}

// SetSubjects tells which objects of the cluster are to be observed, and which DNSEndpoints have changed.
func (c *Cluster) SetSubjects(now *Subjects, changed map[bundle.ID]*Applied) {
	c.mu.Lock()
	before := c.now.Subjects
	c.now.Subjects = now
	if c.applied == nil {
		c.applied = map[bundle.ID]*Applied{}
	}
	maps.Copy(c.applied, changed)
	c.mu.Unlock()
	if before != now || len(changed) > 0 {
		c.Signals.Probe.Wake()
	}
	if before == nil || !slices.Equal(before.Deployments, now.Deployments) || !slices.Equal(before.DaemonSets, now.DaemonSets) {
		c.Signals.Observe.Wake()
	}
}

// TakeApplied answers what the parts have told last, and the DNSEndpoints that have changed since it was called before, to
// the prober alone. DNSEndpoints that external-dns is not to publish any more are nil.
func (c *Cluster) TakeApplied() (now Snapshot, changed map[bundle.ID]*Applied) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed = c.applied
	c.applied = nil
	return c.now, changed
}

// SetFindings tells what the probes have found, and what has changed of the DNSEndpoints that are published.
func (c *Cluster) SetFindings(f *Findings, changed Published) {
	c.mu.Lock()
	news := changed.All != nil || len(changed.Changed) > 0 || !reflect.DeepEqual(c.now.Findings, f)
	c.now.Findings = f
	c.published.Add(changed)
	c.mu.Unlock()
	if news {
		c.Signals.Observe.Wake()
	}
}

// TakePublished answers what has changed of the DNSEndpoints that are published since it was called last, to the observer
// alone.
func (c *Cluster) TakePublished() Published {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.published
	c.published = Published{}
	return changed
}

// SetProbes tells what probes of addresses have found.
func (c *Cluster) SetProbes(all map[string]observed.Probes) {
	c.mu.Lock()
	c.now.Probes = all
	c.mu.Unlock()
	c.Signals.Observe.Wake()
}

// SetAnswers tells what servers answer of the DNSEndpoints for which that has changed. Answers that are nil are to be
// forgotten.
func (c *Cluster) SetAnswers(changed map[string]*observed.Answers) {
	if len(changed) == 0 {
		return
	}
	c.mu.Lock()
	if c.answers == nil {
		c.answers = map[string]*observed.Answers{}
	}
	maps.Copy(c.answers, changed)
	c.mu.Unlock()
	c.Signals.Observe.Wake()
}

// TakeAnswers answers what has changed of the answers since it was called last, to the observer alone.
func (c *Cluster) TakeAnswers() map[string]*observed.Answers {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.answers
	c.answers = nil
	return changed
}

// NamespaceOf answers the namespace of an object that is named "namespace/name".
func NamespaceOf(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

// Join answers the texts that say something, as one.
func Join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; ")
}
