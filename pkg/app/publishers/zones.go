package publishers

import (
	"context"
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
	listsKept   = 2                // readings, over all providers
	listWithin  = 20 * time.Second // for a provider, with the wait for a place
	listRecords = 100_000          // of a provider
	listKept    = time.Minute      // that a reading serves further pages
)

// Zones makes a function that reads all that the zones of a provider have, within limits. If a caller asks for a
// further page, the function may answer what it read a short while ago. Callers do not change the sets.
func Zones(limits Limits, values cluster.Values, counted *open.Metrics, places *Places) func(ctx context.Context, project string, of bundle.Publisher, further bool) ([]publisher.Set, error) {
	read := readAnew(limits, values, counted, places)
	kept := readings{kept: map[string]*reading{}}
	return func(ctx context.Context, project string, of bundle.Publisher, further bool) ([]publisher.Set, error) {
		key, err := keyOf(of)
		if err != nil {
			return nil, err
		}
		if sets, known := kept.get(key); known && further {
			return sets, nil
		}
		sets, err := read(ctx, project, of)
		if err == nil {
			kept.put(key, sets)
		}
		return sets, err
	}
}

// readings are the sets that were read of providers, by their settings. A reading is dropped after a while.
type readings struct {
	mu   sync.Mutex
	kept map[string]*reading
}

type reading struct{ sets []publisher.Set }

func (r *readings) get(key string) ([]publisher.Set, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, known := r.kept[key]
	if !known {
		return nil, false
	}
	return of.sets, true
}

// put keeps a reading in place of others, if they are too many.
func (r *readings) put(key string, sets []publisher.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.kept[key]; !again && len(r.kept) >= listsKept {
		clear(r.kept)
	}
	of := &reading{sets}
	r.kept[key] = of
	time.AfterFunc(listKept, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.kept[key] == of { // and no newer one
			delete(r.kept, key)
		}
	})
}

// readAnew makes a function that reads zones from their servers.
func readAnew(limits Limits, values cluster.Values, counted *open.Metrics, places *Places) func(context.Context, string, bundle.Publisher) ([]publisher.Set, error) {
	dialer := limits.dialer()
	return func(ctx context.Context, project string, of bundle.Publisher) ([]publisher.Set, error) {
		if why := open.Unlistable(of.Provider); why != "" {
			return nil, fault.Errorf(publisher.Invalid, "%s", why)
		}
		ctx, cancel := context.WithTimeout(ctx, listWithin)
		defer cancel()
		leave, err := places.request(ctx, project, of)
		if err != nil {
			return nil, err
		}
		defer leave()
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
