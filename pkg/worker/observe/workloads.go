package observe

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
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

// workloads writes how the Deployments and DaemonSets do that are ours.
func (o *Observer) workloads(ctx context.Context) error {
	now := o.cluster.Snapshot()
	all, watches, found := now.Subjects, now.Watches, now.Findings
	if all == nil {
		return nil // what is ours is not known yet
	}
	deployments := workloads{
		ours: all.Deployments, stored: o.writer.Deployments(), remove: o.writer.RemoveDeployment,
		absent: "there is no such Deployment in the cluster",
		write: func(ctx context.Context, namespace, name string, a cluster.Availability) error {
			return o.writer.SetDeployment(ctx, namespace, name, o.deployment(namespace, name, a, found))
		},
	}
	daemonSets := workloads{
		ours: all.DaemonSets, stored: o.writer.DaemonSets(), remove: o.writer.RemoveDaemonSet,
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
func (o *Observer) deployment(namespace, name string, a cluster.Availability, found *state.Findings) observed.Deployment {
	seen := observed.Deployment{Available: a.Available, Since: o.cluster.Clock.Now().UTC(), Message: a.Message, Ready: a.Ready}
	seen.Sync = o.writer.Deployment(namespace, name).Sync
	if found == nil {
		return seen
	}
	key := namespace + "/" + name
	seen.Message = state.Join(seen.Message, found.Trouble[key])
	if now := found.Sync[key]; now != nil {
		if now.Last.IsZero() && seen.Sync != nil {
			now = &observed.Sync{Last: seen.Sync.Last, Names: seen.Sync.Names, Failing: now.Failing, Unread: now.Unread}
		}
		seen.Sync = now
	}
	return seen
}

// daemonSet is the state of a DaemonSet, with what the prober found out about
// DNS pods. Of what it does not know yet, what was last seen stays.
func (o *Observer) daemonSet(namespace, name string, a cluster.Availability, found *state.Findings) observed.DaemonSet {
	seen := observed.DaemonSet{Available: a.Available, Since: o.cluster.Clock.Now().UTC(), Message: a.Message, Desired: a.Desired, Ready: a.Ready}
	seen.DNS = o.writer.DaemonSet(namespace, name).DNS
	if found == nil {
		return seen
	}
	of := found.Nameservers[namespace+"/"+name]
	seen.Message = state.Join(seen.Message, of.Trouble)
	seen.DNS = of.DNS.Since(seen.DNS)
	return seen
}
