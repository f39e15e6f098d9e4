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
// the others to the other providers. Requests of a project have one place together, and so have publishers' own checks.
type Places struct {
	all      *semaphore.Weighted
	checks   *semaphore.Weighted
	provider *throttle.Shares
	project  *throttle.Shares // of requests
}

// readAtOnce is how many zones are read at once.
const readAtOnce = 2

// NewPlaces makes the places of a process.
func NewPlaces() *Places {
	const patience = time.Hour // callers have less
	return &Places{all: semaphore.NewWeighted(readAtOnce), checks: semaphore.NewWeighted(1), provider: throttle.NewShares(1, patience), project: throttle.NewShares(1, patience)}
}

// late is why there is no place.
const late = "other zones are being read; try again soon"

// request takes a place for a provider of a project that somebody asks about, which leave gives back.
func (p *Places) request(ctx context.Context, project string, of bundle.Publisher) (leave func(), err error) {
	free, ok := p.project.Take(ctx, project)
	if !ok {
		return nil, &fault.Error{Fault: fault.Unreachable, Message: late, Err: ctx.Err()}
	}
	inner, err := p.enter(ctx, of)
	if err != nil {
		free()
		return nil, err
	}
	return func() { inner(); free() }, nil
}

// enter takes a place for a provider, which leave gives back.
func (p *Places) enter(ctx context.Context, of bundle.Publisher) (leave func(), err error) {
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
	of.Interval, of.Adopts, of.AdoptsSince, of.Stopped = 0, "", time.Time{}, false
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
