package controller

import (
	"context"
)

// watchEMCO steps a group when EMCO's rsync changes its context's state, its
// monitor the addresses, or anybody the meta. It starts with the first such group:
// all contexts pass by here, Signpost's own as well. What is missed, the next look
// at everything finds.
func (c *Controller) watchEMCO(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-c.service.Orchestrates:
	}
	for change := range c.service.EMCO.Watch(ctx, 0) {
		if change.Lost {
			c.scan(ctx)
		}
		for _, changed := range change.Contexts {
			if group, ok := c.service.Follower.OrchestratedBy(ctx, changed.ID); ok {
				c.queue.Add(work{owner: group})
			}
		}
	}
}
