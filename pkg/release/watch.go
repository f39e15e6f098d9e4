package release

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// keepWatching watches until ctx ends, beginning again when that fails.
func (c *Controller) keepWatching(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := c.watch(ctx); err != nil && ctx.Err() == nil {
			c.service.Logger.WarnContext(ctx, "observations cannot be watched", "error", err)
		}
	}, time.Second)
}

// watch steps the groups whose Services were observed to change. It knows by
// the current pointers which groups these are.
func (c *Controller) watch(ctx context.Context) error {
	interest, revision, err := c.readInterest(ctx)
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
				interest[p.Owner] = p.Services
			}
			if change.Lost {
				if interest, _, err = c.readInterest(ctx); err != nil {
					return err
				}
			}
		case change := <-changes:
			if change.Lost {
				c.scan(ctx)
			}
			for _, service := range change.Services {
				c.addInterested(interest, service)
			}
		}
	}
}

// readInterest reads which Services matter to which owner, by cluster.
func (c *Controller) readInterest(ctx context.Context) (map[appcontext.Owner]map[string][]string, int64, error) {
	pointers, revision, err := c.service.Contexts.Pointers(ctx)
	interest := map[appcontext.Owner]map[string][]string{}
	for _, p := range pointers {
		interest[p.Owner] = p.Services
	}
	return interest, revision, err
}

func (c *Controller) addInterested(interest map[appcontext.Owner]map[string][]string, service address.Service) {
	name := service.Namespace + "/" + service.Name
	for owner, services := range interest {
		if _, _, _, isProvider := owner.Provider(); !isProvider && slices.Contains(services[service.Cluster], name) {
			c.queue.Add(intent.Path(owner))
		}
	}
}
