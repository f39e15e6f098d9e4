package publishers

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/open"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// The limits of reading whole zones.
const (
	listAtOnce  = 2                // zones, over all callers
	listWithin  = 20 * time.Second // for a provider, with the wait for a place
	listRecords = 100_000          // of a provider
	listKept    = time.Minute      // that a reading serves further pages
)

// Zones makes a function that reads all that the zones of a provider have, within limits. If a caller asks for a
// further page, the function may answer what it read a short while ago. Callers do not change the sets.
func Zones(limits Limits, values cluster.Values, counted *open.Metrics) func(ctx context.Context, of bundle.Publisher, further bool) ([]publisher.Set, error) {
	read := readAnew(limits, values, counted)
	kept := readings{sets: map[string][]publisher.Set{}}
	return func(ctx context.Context, of bundle.Publisher, further bool) ([]publisher.Set, error) {
		key, err := json.Marshal(of)
		if err != nil {
			return nil, err
		}
		if sets, known := kept.get(string(key)); known && further {
			return sets, nil
		}
		sets, err := read(ctx, of)
		if err == nil {
			kept.put(string(key), sets)
		}
		return sets, err
	}
}

// readings are the sets that were read of providers, by their settings. A reading is dropped after a while.
type readings struct {
	mu   sync.Mutex
	sets map[string][]publisher.Set
}

func (r *readings) get(key string) (sets []publisher.Set, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sets, known = r.sets[key]
	return sets, known
}

// put keeps a reading in place of others, if they are too many.
func (r *readings) put(key string, sets []publisher.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sets) >= listAtOnce {
		clear(r.sets)
	}
	r.sets[key] = sets
	time.AfterFunc(listKept, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sets, key)
	})
}

// readAnew makes a function that reads zones from their servers.
func readAnew(limits Limits, values cluster.Values, counted *open.Metrics) func(context.Context, bundle.Publisher) ([]publisher.Set, error) {
	dialer := limits.dialer()
	places := make(chan struct{}, listAtOnce)
	return func(ctx context.Context, of bundle.Publisher) ([]publisher.Set, error) {
		if why := open.Unlistable(of.Provider); why != "" {
			return nil, fault.Errorf(publisher.Invalid, "%s", why)
		}
		ctx, cancel := context.WithTimeout(ctx, listWithin)
		defer cancel()
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return nil, &fault.Error{Fault: fault.Unreachable, Message: "other zones are being read; try again soon", Err: ctx.Err()}
		}
		defer func() { <-places }()
		settings, err := settingsOf(ctx, of, values)
		if err != nil {
			return nil, err
		}
		for _, server := range open.Servers(settings) {
			if err := dialer.Check(ctx, server.Address, server.Scope); err != nil { // etcd's client would go on to try until the end
				return nil, err
			}
		}
		settings.Dial = dialer.Dial
		return open.List(ctx, settings, listRecords, counted)
	}
}
