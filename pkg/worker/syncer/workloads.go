package syncer

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// workloads are the Deployments or the DaemonSets of a cluster, and the ways to
// see, to write and to forget one.
type workloads struct {
	ours   []string // "namespace/name"
	stored []string
	look   func(namespace, name string) (*cluster.Availability, bool)
	write  func(ctx context.Context, namespace, name string, seen cluster.Availability) error
	remove func(ctx context.Context, namespace, name string) error
	absent string // what is said of one of ours that is not there
}

// ours lists the objects of a kind of workloads that Signpost made, as
// "namespace/name" in order.
func (t *clusterWorker) ours(kind cluster.Kind) []string {
	var names []string
	for id, e := range t.entries {
		if cluster.KindOf(id) == kind && e.CreatedByUs {
			names = append(names, keyOf(id))
		}
	}
	slices.Sort(names)
	return names
}

// keyOf is an object of a known kind as "namespace/name".
func keyOf(id bundle.ID) string { return id.Namespace + "/" + id.Name }

func deploymentKind() cluster.Kind { return cluster.Kind{Group: "apps", Kind: "Deployment"} }

func daemonSetKind() cluster.Kind { return cluster.Kind{Group: "apps", Kind: "DaemonSet"} }

// workloads writes how the Deployments and DaemonSets do that are ours.
func (o *observer) workloads(ctx context.Context) error {
	o.worker.mu.Lock()
	all, watches, found := o.worker.subjects, o.worker.watches, o.worker.findings
	o.worker.mu.Unlock()
	if all == nil {
		return nil // what is ours is not known yet
	}
	deployments := workloads{
		ours: all.deployments, stored: o.writer.Deployments(), remove: o.writer.RemoveDeployment,
		absent: "there is no such Deployment in the cluster",
		write: func(ctx context.Context, namespace, name string, a cluster.Availability) error {
			return o.writer.SetDeployment(ctx, namespace, name, o.deployment(namespace, name, a, found))
		},
	}
	daemonSets := workloads{
		ours: all.daemonSets, stored: o.writer.DaemonSets(), remove: o.writer.RemoveDaemonSet,
		absent: "there is no such DaemonSet in the cluster",
		write: func(ctx context.Context, namespace, name string, a cluster.Availability) error {
			return o.writer.SetDaemonSet(ctx, namespace, name, o.daemonSet(namespace, name, a, found))
		},
	}
	if watches != nil {
		deployments.look, daemonSets.look = watches.Deployment, watches.DaemonSet
	}
	if err := deployments.observe(ctx); err != nil {
		return err
	}
	return daemonSets.observe(ctx)
}

// observe writes what is seen of ours, and forgets what is not ours any more.
func (w workloads) observe(ctx context.Context) error {
	for _, workload := range w.ours {
		if w.look == nil {
			break
		}
		namespace, name, _ := strings.Cut(workload, "/")
		seen, known := w.look(namespace, name)
		if !known {
			continue
		}
		if seen == nil {
			seen = &cluster.Availability{Message: w.absent}
		}
		if err := w.write(ctx, namespace, name, *seen); err != nil {
			return err
		}
	}
	return w.forget(ctx)
}

// forget removes the observations of what is not ours.
func (w workloads) forget(ctx context.Context) error {
	for _, workload := range w.stored {
		if slices.Contains(w.ours, workload) {
			continue
		}
		namespace, name, _ := strings.Cut(workload, "/")
		if err := w.remove(ctx, namespace, name); err != nil {
			return err
		}
	}
	return nil
}

// deployment is the state of a Deployment, with what the prober found out
// about an external-dns. Of what it does not know yet, what was last seen stays.
func (o *observer) deployment(namespace, name string, a cluster.Availability, found *findings) observed.Deployment {
	state := observed.Deployment{Available: a.Available, Since: o.worker.clock.Now().UTC(), Message: a.Message, Ready: a.Ready}
	state.Sync = o.writer.Deployment(namespace, name).Sync
	if found == nil {
		return state
	}
	key := namespace + "/" + name
	state.Message = joined(state.Message, found.trouble[key])
	if now := found.sync[key]; now != nil {
		if now.Last.IsZero() && state.Sync != nil {
			now = &observed.Sync{Last: state.Sync.Last, Names: state.Sync.Names, Failing: now.Failing, Unread: now.Unread}
		}
		state.Sync = now
	}
	return state
}

// daemonSet is the state of a DaemonSet, with what the prober found out about
// DNS pods. Of what it does not know yet, what was last seen stays.
func (o *observer) daemonSet(namespace, name string, a cluster.Availability, found *findings) observed.DaemonSet {
	state := observed.DaemonSet{Available: a.Available, Since: o.worker.clock.Now().UTC(), Message: a.Message, Desired: a.Desired, Ready: a.Ready}
	state.DNS = o.writer.DaemonSet(namespace, name).DNS
	if found == nil {
		return state
	}
	of := found.nameservers[namespace+"/"+name]
	state.Message = joined(state.Message, of.trouble)
	state.DNS = of.dns.Since(state.DNS)
	return state
}
