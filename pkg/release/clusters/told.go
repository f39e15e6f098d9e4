package clusters

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	toldWithin = 24 * time.Hour // how old a drain may be that is told late
	mostTold   = 4096           // drains that are remembered to be told
)

// TellDrains tells of drains and undrains that no event tells of, because a process ended before it
// had written the event. Parameter age is longer than a living process takes. Older versions wrote
// events with later times: of what they did is not told again.
func (s *Operator) TellDrains(ctx context.Context, age time.Duration) error {
	if s.Recorded == nil {
		return nil
	}
	list, err := s.DrainedClusters(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(list.Clusters)) {
		abandoned, wrong := s.IsAbandoned(ctx, name) // the event of that tells of it
		if is := list.Clusters[name]; is.Timed && !abandoned && wrong == nil {
			wrong = s.tellDrain(ctx, name, is.Drained, intent.Drain, age)
		}
		err = errors.Join(err, wrong)
	}
	for name, was := range list.Undrains() {
		if was.Timed {
			err = errors.Join(err, s.tellDrain(ctx, name, was.Drained, intent.Drain, age),
				s.tellDrain(ctx, name, *was.Undrained, intent.Undrain, age))
		}
	}
	return err
}

// tellDrain tells of a drain or an undrain, once. An event that the history keeps no longer does not come again.
func (s *Operator) tellDrain(ctx context.Context, name string, by intent.Drained, action intent.Action, age time.Duration) error {
	since := s.Now().Sub(by.Since)
	if _, known := s.told.Get(toldDrain{name, by.Since}); known || since < age || since > toldWithin {
		return nil
	}
	e := by.Event(ctx, action)
	told, err := s.Recorded(ctx, intent.ClusterPath(name), e)
	if intent.CodeOf(err) == intent.NotFound {
		return nil // the history went with the cluster provider
	}
	if err != nil {
		return err
	}
	if told {
		s.told.Keep(toldDrain{name, by.Since}, true, mostTold)
	} else {
		s.Tell(ctx, intent.ClusterPath(name), e) // if that fails, the next time
	}
	return nil
}

// toldDrain is a drain or an undrain of a cluster ("provider+cluster").
type toldDrain struct {
	cluster string
	since   time.Time
}
