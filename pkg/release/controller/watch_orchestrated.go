package controller

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// watchOrchestrated steps a group when its app context changes. It starts with the first
// such group, because all contexts pass by here, Signpost's own as well. The next scan
// finds missed changes.
func (c *Controller) watchOrchestrated(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-c.service.Orchestrates:
	}
	c.service.Follower.Watch(ctx, func(group intent.Path) { c.told(work{owner: group}) }, func() { c.scan(ctx) })
}
