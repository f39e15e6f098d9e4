package publishers

import (
	"context"
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
)

// Zones makes a function that reads all that the zones of a provider have, within limits.
func Zones(limits Limits, values cluster.Values, counted *open.Metrics) func(context.Context, bundle.Publisher) ([]publisher.Set, error) {
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
