package publishers

import (
	"context"
	"encoding/json"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// Places bound how many whole zones the process reads at once, for requests and publishers: each may need as much memory as
// publisher.MostListedBytes, and more. A provider has one place at most, so that a server that says nothing leaves
// the others to the other providers. Publishers' own checks have one place together.
type Places struct {
	all      *semaphore.Weighted
	checks   *semaphore.Weighted
	provider *throttle.Shares
}

// readAtOnce is how many zones are read at once.
const readAtOnce = 2

// NewPlaces makes the places of a process.
func NewPlaces() *Places {
	const patience = time.Hour // callers have less
	return &Places{all: semaphore.NewWeighted(readAtOnce), checks: semaphore.NewWeighted(1), provider: throttle.NewShares(1, patience)}
}

// enter takes a place for a provider, which leave gives back.
func (p *Places) enter(ctx context.Context, of bundle.Publisher) (leave func(), err error) {
	const late = "other zones are being read; try again soon"
	key, err := keyOf(of)
	if err != nil {
		return nil, err
	}
	free, ok := p.provider.Take(ctx, key)
	if !ok {
		return nil, &fault.Error{Fault: fault.Unreachable, Message: late, Err: ctx.Err()}
	}
	if err := p.all.Acquire(ctx, 1); err != nil {
		free()
		return nil, &fault.Error{Fault: fault.Unreachable, Message: late, Err: err}
	}
	return func() { p.all.Release(1); free() }, nil
}

// keyOf tells the settings of providers apart by what matters to a reading.
func keyOf(of bundle.Publisher) (string, error) {
	of.Interval, of.Adopts, of.Stopped = 0, "", false
	key, err := json.Marshal(of)
	return string(key), err
}

// checked is a Writer whose readings of whole zones wait for a place.
type checked struct {
	publisher.Writer
	of     bundle.Publisher
	places *Places
}

// Owned implements publisher.Owning.
func (c checked) Owned(ctx context.Context) ([]publisher.Set, error) {
	owning, can := c.Writer.(publisher.Owning)
	if !can {
		return nil, fault.Errorf(publisher.Unlisted, "the zones of provider %s cannot be read", c.of.Provider)
	}
	if err := c.places.checks.Acquire(ctx, 1); err != nil {
		return nil, &fault.Error{Fault: fault.Unreachable, Message: "the check was given up before it began", Err: err}
	}
	defer c.places.checks.Release(1)
	leave, err := c.places.enter(ctx, c.of)
	if err != nil {
		return nil, err
	}
	defer leave()
	return owning.Owned(ctx)
}
