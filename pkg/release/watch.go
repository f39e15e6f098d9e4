package release

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/observed"
)

// keepWatching watches until ctx ends, beginning again when that fails.
func (c *Controller) keepWatching(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := c.watch(ctx); err != nil && ctx.Err() == nil {
			c.service.Logger.WarnContext(ctx, "observations cannot be watched", "error", err)
		}
	}, time.Second)
}

// interest says by the current pointers what matters to which owner: Services
// and placements, by cluster.
type interest map[appcontext.Owner]appcontext.Pointer

// watch steps the owners whose Services were observed to change, or what their
// placements make of a cluster's nodes.
func (c *Controller) watch(ctx context.Context) error {
	owners, revision, err := c.readInterest(ctx)
	if err != nil {
		return err
	}
	pointers := c.service.Contexts.Watch(ctx, revision+1)
	changes := c.service.Observed.Watch(ctx, revision+1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case change := <-pointers:
			for _, p := range change.Pointers {
				owners[p.Owner] = p
			}
			if change.Lost {
				if owners, _, err = c.readInterest(ctx); err != nil {
					return err
				}
			}
		case change := <-changes:
			if change.Lost {
				c.scan(ctx)
			}
			for _, owner := range owners.in(change) {
				c.queue.Add(owner)
			}
		}
	}
}

func (c *Controller) readInterest(ctx context.Context) (interest, int64, error) {
	pointers, revision, err := c.service.Contexts.Pointers(ctx)
	all := interest{}
	for _, p := range pointers {
		all[p.Owner] = p
	}
	return all, revision, err
}

// in answers the owners to whom something matters that has changed. An
// external-dns is none of them.
func (i interest) in(change observed.Change) []intent.Path {
	var owners []intent.Path
	for owner, p := range i {
		if _, _, _, isProvider := owner.Provider(); concerns(p, change) && !isProvider {
			owners = append(owners, intent.Path(owner))
		}
	}
	return owners
}

func concerns(p appcontext.Pointer, change observed.Change) bool {
	named := func(s address.Service) bool {
		return slices.Contains(p.Services[s.Cluster], s.Namespace+"/"+s.Name)
	}
	placed := func(cluster string) bool { return len(p.Placements[cluster]) > 0 }
	return slices.ContainsFunc(change.Services, named) || slices.ContainsFunc(change.Placements, placed)
}
