package replicas

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Lease is how long a replica that dies counts as one that lives, at most.
const Lease = 15 * time.Second

// The registry's rhythm.
const (
	lookEvery     = 5 * time.Second
	againAfter    = time.Second     // a lease was lost, or the store does not answer
	releaseAtMost = 2 * time.Second // of the end
)

// Registry keeps a replica's own key, and knows the others'.
type Registry struct {
	store kv.KV
	self  Replica
	log   *slog.Logger

	mu   sync.Mutex
	live []Replica
}

// NewRegistry makes a Registry, which does nothing until Run.
func NewRegistry(store kv.KV, self Replica, log *slog.Logger) *Registry {
	return &Registry{store: store, self: self, log: log}
}

// ID is this replica's own.
func (r *Registry) ID() string { return r.self.ID }

// Run keeps the replica registered until ctx ends; then it is no more, at once,
// and Run answers nil.
func (r *Registry) Run(ctx context.Context) error {
	for {
		if err := r.term(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "this replica is not registered", "error", err)
		}
		r.note(nil)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(againAfter):
		}
	}
}

// term is the life of one lease.
func (r *Registry) term(ctx context.Context) error {
	lease, err := r.store.Lease(ctx, int(Lease.Seconds()))
	if err != nil {
		return err
	}
	defer r.release(ctx, lease)
	value, err := json.Marshal(r.self)
	if err != nil {
		return err
	}
	if _, _, err := r.store.Txn(ctx, nil, kv.Op{Key: prefix + r.self.ID, Value: value, Lease: lease.ID()}); err != nil {
		return err
	}
	return r.follow(ctx, lease)
}

// follow notes who lives as long as a lease holds: at once when others come and go, and now and then.
func (r *Registry) follow(ctx context.Context, lease kv.Lease) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	changes := r.store.Watch(ctx, prefix, 0)
	for {
		all, err := Live(ctx, r.store)
		if err != nil {
			return err
		}
		r.note(all)
		select {
		case <-ctx.Done():
			return nil
		case <-lease.Lost():
			return errors.New("its lease is lost")
		case <-changes:
		case <-tick.C:
		}
	}
}

func (r *Registry) release(ctx context.Context, lease kv.Lease) {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseAtMost)
	defer cancel()
	if err := lease.Release(short); err != nil {
		r.log.DebugContext(ctx, "a lease was not released and runs out by itself", "error", err)
	}
}

func (r *Registry) note(live []Replica) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live = live
}

// Idle tells whether no replica that lives serves clusters, as of the last look,
// seconds ago. It is false while this one is cut off from the store.
func (r *Registry) Idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.live) > 0 && !slices.ContainsFunc(r.live, Replica.Works)
}

// Working lists the ids of the replicas that serve clusters and step owners, as of the last look.
// There are none while this one is cut off from the store.
func (r *Registry) Working() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, replica := range r.live {
		if replica.Works() {
			ids = append(ids, replica.ID)
		}
	}
	return ids
}

// Others lists the replicas that live beside this one, as of now.
func (r *Registry) Others(ctx context.Context) ([]Replica, error) {
	live, err := Live(ctx, r.store)
	return slices.DeleteFunc(live, func(other Replica) bool { return other.ID == r.self.ID }), err
}

var _ prometheus.Collector = (*Registry)(nil)

// Describe implements prometheus.Collector.
func (r *Registry) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- description() }

// kind is what signpost_replicas tells apart.
type kind struct{ role, version string }

// Collect implements prometheus.Collector: the replicas of the last look,
// seconds ago; none while this one is cut off from the store.
func (r *Registry) Collect(metrics chan<- prometheus.Metric) {
	for of, n := range r.count() {
		metrics <- prometheus.MustNewConstMetric(description(), prometheus.GaugeValue, float64(n), of.role, of.version)
	}
}

// count counts the replicas by kind. Each role is among them, so that one that
// nobody has is seen to be 0.
func (r *Registry) count() map[kind]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := map[kind]int{}
	if len(r.live) == 0 {
		return count
	}
	for _, role := range []string{All, API, Worker} {
		count[kind{role, r.self.Version}] = 0
	}
	for _, replica := range r.live {
		count[kind{replica.Role, replica.Version}]++
	}
	return count
}

func description() *prometheus.Desc {
	return prometheus.NewDesc("signpost_replicas", "Replicas that live, by role and version, as this one sees them.", []string{"role", "version"}, nil)
}
