package controller

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/replicas"
)

const (
	shareEvery = time.Second                    // a controller looks so often which replicas live
	wholeFor   = replicas.Lease + 5*time.Second // after its start, a replica has all owners: for longer than the lease of one that was killed before
)

// Replicas are the processes of an installation, as one of them knows them.
type Replicas interface {
	ID() string        // its own
	Working() []string // the ids of those that step owners, as of a moment ago; empty: not known
}

// share is which owners a controller steps when all replicas hear of a change. The replicas that live divide
// the owners by a hash of both names. So each knows its own share without asking, and the share of one that goes
// is all that moves.
//
// Two replicas may disagree for a moment on who lives, and both leave an owner to the other one. The replica that
// has it when they agree has gained it by then. When its view changes, a replica looks at the owners that it gains.
//
// A replica that begins has all owners until the lease of one that was killed before it has run out. So it looks at each
// owner once, and not at half of them again when that lease ends.
type share struct {
	replicas Replicas // nil: there are no others

	mu      sync.Mutex
	looks   int      // how often it has looked who lives
	members []string // in order; empty while the replica has all owners
}

// has tells whether an owner belongs to the share.
func (s *share) has(owner intent.Path) bool {
	s.mu.Lock()
	members := s.members
	s.mu.Unlock()
	return s.hasAmong(members, owner)
}

// hasAmong is has, if these replicas live.
func (s *share) hasAmong(members []string, owner intent.Path) bool {
	return len(members) == 0 || s.replicas.ID() == slices.MaxFunc(members, func(a, b string) int {
		return cmp.Compare(weight(owner, a), weight(owner, b))
	})
}

// weight is another number for each owner and replica, the same in every process.
func weight(owner intent.Path, replica string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(string(owner) + "\x00" + replica)) // a hash takes everything
	return hash.Sum64()
}

// renew looks who lives, and tells whether the owners are divided otherwise than before. At first they are not divided: the
// replica has all of them. A replica that is cut off keeps what it knew.
func (s *share) renew() (before []string, changed bool) {
	members := slices.Sorted(slices.Values(s.replicas.Working()))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	if s.looks <= int(wholeFor/shareEvery) || len(members) == 0 || slices.Equal(members, s.members) {
		return nil, false
	}
	before, s.members = s.members, members
	return before, true
}

// keepShare follows which replicas live until ctx ends. When others do, it looks at the owners
// that it has gained.
func (c *Controller) keepShare(ctx context.Context) {
	if c.share.replicas == nil {
		return
	}
	tick := time.NewTicker(shareEvery)
	defer tick.Stop()
	for {
		if before, changed := c.share.renew(); changed && len(before) > 0 { // it gains nothing if it had all
			c.takeOver(ctx, before)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// takeOver puts the owners into the queue that this replica has, and that it did not have while others lived.
func (c *Controller) takeOver(ctx context.Context, before []string) {
	page, err := c.service.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection, PathsOnly: true})
	if err != nil {
		c.resync.miss() // the next turn of the round looks at all
		c.service.Logger.WarnContext(ctx, "owners cannot be listed", "error", err)
		return
	}
	var gained []intent.Path
	for _, doc := range page.Items {
		if owner := state.OwnerOf(doc.Path); c.share.has(owner) && !c.share.hasAmong(before, owner) {
			gained = append(gained, owner)
		}
	}
	c.lookAt(gained, false)
}
