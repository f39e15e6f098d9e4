package accept

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

const (
	fewObjects    = 1000    // plans of no more wait for nobody
	perObject     = 2 << 10 // bytes of memory for each object of a plan, about
	roomOtherwise = 256 << 20
	patience      = 5 * time.Second
)

// NewRoom is the memory for the objects of running plans, in bytes; 0: 256 MiB. The plans
// of one project have half of it at most.
func NewRoom(bytes int64) *throttle.Bytes {
	return throttle.NewBytes(cmp.Or(bytes, roomOtherwise), patience)
}

// weigh takes the memory for a plan of so many objects, or fails with Unavailable. A plan
// that only removes objects needs none.
func (s *Planner) weigh(ctx context.Context, p *resolve.Proposal) (*throttle.Taken, error) {
	objects := max(p.Objects, p.Lifecycle.Objects)
	if s.Room == nil || p.TooLarge || p.Action == intent.Terminate || objects <= fewObjects {
		return nil, nil //nolint:nilnil // it needs none
	}
	taken, ok := s.Room.Take(ctx, p.Draft.In.ProjectPath().Name(), int64(objects)*perObject)
	if !ok {
		return nil, &intent.Error{
			Code: intent.Unavailable, RetryAfter: time.Second,
			Detail: fmt.Sprintf("the server has too little memory for a plan of %d objects beside the running ones; nothing was done; try again", objects),
		}
	}
	return taken, nil
}
