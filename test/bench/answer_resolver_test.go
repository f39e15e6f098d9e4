package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/e2e/dns"
)

// behindUnbound has clients ask an Unbound all the time, while the address changes. A client's time is that until its first
// new answer. The goal is the authoritative p99, the TTL and a second.
func (w *answerWorld) behindUnbound(b *testing.B, authoritative time.Duration) {
	unbound, err := dns.NewUnbound(b.Context(), filepath.Join(w.Dir, "unbound"), w.coreDNS.Address, w.Ports)
	if err != nil {
		b.Log(err)
		b.ReportMetric(0, metric("NOT RUN: Unbound is missing (apt-get install unbound)")+"-changes")
		b.ReportMetric(0, "ns/op")
		return
	}
	w.start(b, unbound.Process, nil)
	const part = 4
	var times compare.Samples
	for b.Loop() {
		for range max(1, *changes/part) {
			times = append(times, w.cached.clients(b, unbound.Address)...)
		}
	}
	name := fmt.Sprintf("Unbound, TTL %s", cachedTTL)
	row(b, name, times, authoritative+cachedTTL+time.Second)
	b.ReportMetric(float64(max(1, *changes/part)), metric(name)+"-changes") // and not those of each client
}

// clients ask a resolver for the name. After a random time it changes. Their times are until each has the new address.
func (n *answerName) clients(b *testing.B, resolver string) compare.Samples {
	b.Helper()
	const count = 100
	times := make(compare.Samples, count)
	var began atomic.Pointer[time.Time]
	before, after := n.address.String(), n.address.Next().String()
	group, ctx := errgroup.WithContext(b.Context())
	for client := range count {
		group.Go(func() error {
			at, err := untilNew(ctx, resolver, n.host, before, after)
			if err == nil {
				times[client] = at.Sub(*began.Load())
			}
			return err
		})
	}
	time.Sleep(200*time.Millisecond + rand.N(cachedTTL)) // so that the cached answer has any age
	now := time.Now()
	began.Store(&now)
	require.NoError(b, n.move(b.Context()))
	require.NoError(b, group.Wait())
	return times
}

// untilNew asks until the new address is answered, and tells when that was. Any other answer but the old address is an error.
func untilNew(ctx context.Context, resolver, host, before, after string) (time.Time, error) {
	const every, patience = 200 * time.Millisecond, time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		select {
		case <-time.After(rand.N(2 * every)):
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("%s did not become %s: %w", host, after, ctx.Err())
		}
		got, err := dns.Resolve(ctx, resolver, host, "A")
		answer := strings.Join(got, " ")
		switch {
		case err != nil:
			return time.Time{}, err
		case answer == after:
			return time.Now(), nil
		case answer != before:
			return time.Time{}, fmt.Errorf("%s is %q, neither %s nor %s", host, answer, before, after)
		}
	}
}
