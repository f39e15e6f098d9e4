package syncer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/lookup"
)

// observer writes what is seen of one cluster. It has a goroutine of its own,
// so that a slow apply never holds up a changed address.
type observer struct {
	worker  *clusterWorker
	store   *observed.Store
	writer  *observed.Writer
	lookups *lookup.Lookups
}

// step writes what has changed. Only complete pictures count: what is not
// known stays as it was last seen (I11).
func (o *observer) step(ctx context.Context) error {
	if o.writer == nil {
		writer, err := o.store.Writer(ctx, o.worker.name, o.worker.fence)
		if err != nil {
			return err
		}
		o.writer = writer
	}
	if err := o.services(ctx); err != nil {
		return err
	}
	if err := o.workloads(ctx); err != nil {
		return err
	}
	if err := o.placements(ctx); err != nil {
		return err
	}
	if err := o.published(ctx); err != nil {
		return err
	}
	if err := o.answers(ctx); err != nil {
		return err
	}
	return o.reachability(ctx)
}

// rest answers how long nothing needs to be written, unless something happens.
func (o *observer) rest() time.Duration {
	if !o.writer.Holds() {
		return lookEvery
	}
	now := o.worker.clock.Now()
	if due := o.writer.Due(now); !due.IsZero() {
		return min(lookEvery, due.Sub(now))
	}
	return lookEvery
}

// finish removes all that was observed of a cluster that nothing is left to
// serve in.
func (o *observer) finish(ctx context.Context) error {
	if o.writer == nil {
		writer, err := o.store.Writer(ctx, o.worker.name, o.worker.fence)
		if err != nil {
			return err
		}
		o.writer = writer
	}
	if err := o.forgetServices(ctx, nil); err != nil {
		return err
	}
	if err := o.forgetPlacements(ctx); err != nil {
		return err
	}
	deployments := workloads{stored: o.writer.Deployments(), remove: o.writer.RemoveDeployment}
	if err := deployments.forget(ctx); err != nil {
		return err
	}
	daemonSets := workloads{stored: o.writer.DaemonSets(), remove: o.writer.RemoveDaemonSet}
	if err := daemonSets.forget(ctx); err != nil {
		return err
	}
	if err := o.writer.SetPublished(ctx, nil, nil); err != nil {
		return err
	}
	if err := o.writer.SetAnswers(ctx, nil); err != nil {
		return err
	}
	if len(o.worker.index.Pointers(o.worker.name)) > 0 {
		return nil // somebody came in between: what was seen still counts
	}
	return o.writer.RemoveReachability(ctx)
}

func namespaceOf(service string) string {
	namespace, _, _ := strings.Cut(service, "/")
	return namespace
}

func (o *observer) services(ctx context.Context) error {
	named := o.worker.index.Services(o.worker.name)
	if watches := o.worker.watching(); watches != nil {
		for _, service := range slices.Sorted(maps.Keys(named)) {
			namespace, name, _ := strings.Cut(service, "/")
			observation, known := watches.Service(namespace, name)
			if !known || !o.lookups.Resolve(ctx, &observation) {
				continue
			}
			observation.Changed = o.worker.clock.Now().UTC()
			if err := o.writer.SetService(ctx, namespace, name, observation); err != nil {
				return err
			}
		}
	}
	return o.forgetServices(ctx, named)
}

// forgetServices removes the observations of Services that no current pointer
// names, as of a read made for the purpose.
func (o *observer) forgetServices(ctx context.Context, named map[string]bool) error {
	var candidates []address.Service
	for _, service := range o.writer.Services() {
		if !named[service.Namespace+"/"+service.Name] {
			candidates = append(candidates, service)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	if _, err := o.worker.index.Refresh(ctx); err != nil {
		return err
	}
	named = o.worker.index.Services(o.worker.name)
	for _, service := range candidates {
		if named[service.Namespace+"/"+service.Name] {
			continue
		}
		if err := o.writer.RemoveService(ctx, service.Namespace, service.Name); err != nil {
			return err
		}
	}
	return nil
}

// published writes which DNSEndpoints the prober saw to be published.
func (o *observer) published(ctx context.Context) error {
	o.worker.mu.Lock()
	found := o.worker.findings
	o.worker.mu.Unlock()
	if found == nil {
		return nil
	}
	return o.writer.SetPublished(ctx, found.endpoints, found.published)
}

// answers writes what the verifier heard of authoritative servers.
func (o *observer) answers(ctx context.Context) error {
	o.worker.mu.Lock()
	heard := o.worker.answers
	o.worker.mu.Unlock()
	if heard == nil {
		return nil
	}
	return o.writer.SetAnswers(ctx, heard)
}

// reachability writes the last probe's result. A cluster that answers, but of
// which something cannot be watched, says so in its message.
func (o *observer) reachability(ctx context.Context) error {
	o.worker.mu.Lock()
	health, watches := o.worker.health, o.worker.watches
	o.worker.mu.Unlock()
	if health == nil {
		return nil
	}
	state := *health
	if state.Reachable && watches != nil {
		if err := watches.Trouble(); err != nil {
			state.Message = "not everything can be watched: " + err.Error()
		}
	}
	return o.writer.SetReachability(ctx, state)
}
