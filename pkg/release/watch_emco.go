package release

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// watchEMCO steps a group when EMCO's rsync changes its context's state, its
// monitor the addresses, or anybody the meta. It starts with the first such group:
// all contexts pass by here, Signpost's own as well. What is missed, the next look
// at everything finds.
func (c *Controller) watchEMCO(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-c.service.orchestrates:
	}
	for change := range c.service.emco.Watch(ctx, 0) {
		if change.Lost {
			c.scan(ctx)
		}
		for _, changed := range change.Contexts {
			if group, ok := c.service.orchestratedBy(ctx, changed.ID); ok {
				c.queue.Add(work{owner: group})
			}
		}
	}
}

// orchestratedBy is the group of an app context, if EMCO deploys it.
func (s *Service) orchestratedBy(ctx context.Context, id string) (group intent.Path, ok bool) {
	meta, err := s.emco.Meta(ctx, id)
	if err != nil {
		return "", false
	}
	if group, ok = groupOf(meta); !ok {
		return "", false
	}
	l, err := s.storedLifecycle(ctx, group)
	return group, err == nil && l.toHeed()
}
