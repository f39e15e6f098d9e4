package controller

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/failover"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// documents tells of changed documents from a revision on, nil if the store of documents
// cannot.
func (c *Controller) documents(ctx context.Context, from int64) <-chan intent.Changed {
	if c.service.Watch == nil {
		return nil
	}
	return c.service.Watch(ctx, from)
}

// followDocuments puts the owners into the queue that changed documents concern.
func (c *Controller) followDocuments(ctx context.Context, change intent.Changed) {
	all := change.Lost
	for n, path := range change.Paths {
		owner := state.OwnerOf(path)
		switch {
		case owner != path && n < len(change.Documents) && c.service.Wakeups.Expects(owner, change.Documents[n].Revision): // a step here has written it
		case failover.IsMark(path):
			c.failoverBegun()
		case path == state.DrainedPath, isCluster(path):
			all = true
		case owner == path && !isOwner(path), !c.share.has(owner): // nobody's, or another replica's
		case state.IsRecord(owner) && owner != path: // a request may be about to be accepted that has pinned it
			c.resync.told(owner)
			c.queue.AddAfter(work{owner: owner}, scanEvery)
		default:
			c.due(work{owner: owner})
		}
	}
	if all {
		c.failoverBegun()
		c.scan(ctx)
	}
}

// told puts work into the queue that all replicas hear of, if this one has its owner.
func (c *Controller) told(todo work) {
	if c.share.has(todo.owner) {
		c.due(todo)
	}
}

// due puts work into the queue that something has asked for.
func (c *Controller) due(todo work) {
	c.resync.told(todo.owner)
	c.queue.Add(todo)
}

// isOwner tells the documents whose steps read them.
func isOwner(path intent.Path) bool {
	return state.IsCloud(path) || strings.HasSuffix(path.Collection(), "/deployment-intent-groups")
}

func isCluster(path intent.Path) bool {
	return strings.HasPrefix(string(path), "cluster-providers/") && strings.HasSuffix(path.Collection(), "/clusters")
}

// followClaims puts the owners into the queue that have Services in a namespace that was
// claimed: it may be another project's now.
func (c *Controller) followClaims(ctx context.Context, owners *interest, change nameclaim.Changed) {
	if change.Lost {
		c.scan(ctx)
	}
	for _, key := range change.Keys {
		cluster, is := resolve.NamespaceOn(key)
		if !is {
			continue
		}
		found := map[intent.Path]bool{}
		for service, of := range owners.services {
			if service.Cluster == cluster && service.Namespace == key.Name {
				maps.Copy(found, of)
			}
		}
		c.concern(wholly(found))
	}
}

// followSilent puts the owners into the queue that have Services on clusters which do not answer, if these stand otherwise
// than before. It answers how they stand. That follows from who serves them, and nobody tells of that. All replicas do
// so: the clock of the one that serves the cluster is the first to say that an outage counts. A step says when it counts
// for long enough.
func (c *Controller) followSilent(ctx context.Context, owners *interest, before map[string]address.Standing) map[string]address.Standing {
	now, err := c.service.Renderer.Standings(ctx)
	if err != nil {
		c.service.Logger.WarnContext(ctx, "the reachability of clusters cannot be read", "error", err)
		return before
	}
	concerned := map[intent.Path]bool{}
	for cluster := range now {
		if now[cluster] != before[cluster] {
			maps.Copy(concerned, owners.sources[cluster])
		}
	}
	c.lookAt(slices.Sorted(maps.Keys(concerned)), false)
	return now
}
