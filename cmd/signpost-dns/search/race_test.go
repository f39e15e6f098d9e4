package search_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// slowly is a world whose servers take their time, by name; those who are silent
// give up after two seconds.
type slowly struct {
	world world
	takes map[string]time.Duration

	mu    sync.Mutex
	asked []string
	ended int
}

const silent = 2 * time.Second

func (s *slowly) lookup(_ context.Context, name string, qtype uint16) *dns.Msg {
	s.mu.Lock()
	s.asked = append(s.asked, dns.TypeToString[qtype]+" "+name)
	s.mu.Unlock()
	time.Sleep(s.takes[name])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	if s.takes[name] >= silent {
		return nil
	}
	var asked []string
	return s.world.lookup(&asked)(context.Background(), name, qtype)
}

// A silent server hides no name behind it: that is found by the time that a
// search ends, and by the same order as ever.
func TestASilentServerHidesNoNameBehindIt(t *testing.T) {
	const first, second, third, last = "web.shop.svc.cluster.local.", "web.svc.cluster.local.", "web.cluster.local.", "web."
	const here = "60 IN A 10.0.0.1"
	for _, c := range []struct {
		reason string
		world  world
		takes  map[string]time.Duration
		result search.Result
		name   string
		asked  int
		took   time.Duration
		ttl    uint32
	}{
		{"who answers soon is waited for, and nobody else is asked", world{first: here, second: here},
			map[string]time.Duration{first: 240 * time.Millisecond}, search.Found, first, 1, 240 * time.Millisecond, 60},
		{"the first that has it, though one behind it answered sooner", world{first: here, second: here},
			map[string]time.Duration{first: 400 * time.Millisecond}, search.Found, first, 2, 400 * time.Millisecond, 60},
		{"the next one, where the first is silent", world{second: here},
			map[string]time.Duration{first: silent}, search.Found, second, 2, search.Budget, 5},
		{"an outside name", world{last: here}, map[string]time.Duration{second: silent}, search.Found, last, 5, search.Budget, 5},
		{"all paths are silent", world{last: here},
			map[string]time.Duration{first: silent, second: silent, third: silent, "web.foo.com.": silent}, search.Found, last, 5, search.Budget, 5},
		{"nothing is found: the silent one may yet answer", world{}, map[string]time.Duration{second: silent}, search.Failed, second, 5, silent, 5},
		{"what answers late is found, where nothing else is", world{last: here}, map[string]time.Duration{last: 1900 * time.Millisecond}, search.Found, last, 5, 1900 * time.Millisecond, 30},
		{"addresses of the other family end it", world{"A " + second: "nodata 9", "AAAA " + second: "60 IN AAAA fd00::1", last: here},
			map[string]time.Duration{first: silent}, search.NoData, second, 3, search.Budget, 5},
		{"what answers in the end", world{first: here, last: here}, map[string]time.Duration{first: time.Second}, search.Found, first, 5, time.Second, 60},
		{"everybody is slow, and it is found", world{last: here},
			map[string]time.Duration{first: 200 * time.Millisecond, second: 200 * time.Millisecond, last: 200 * time.Millisecond}, search.Found, last, 5, 600 * time.Millisecond, 30},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &slowly{world: c.world, takes: c.takes}
			start := time.Now()
			o := search.Walk(t.Context(), search.Names("web.", paths), dns.TypeA, s.lookup)
			require.Equal(t, c.took, time.Since(start), c.reason)
			require.Equal(t, c.result, o.Result, c.reason)
			require.Equal(t, c.name, o.Name, c.reason)
			require.Equal(t, c.asked, o.Lookups, c.reason)
			if c.result != search.Failed {
				require.Equal(t, c.ttl, o.Answer(query("web.search.shop.cluster.local.ap.k8s.io."), false).Answer[0].Header().Ttl, c.reason)
			}
			time.Sleep(silent)
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			require.Len(t, s.asked, c.asked, "%s: nobody is asked when it is over", c.reason)
			require.Equal(t, c.asked, s.ended, "%s: no lookup is left", c.reason)
		})
	}
}

// However many paths are silent, the name as it is gets its turn.
func TestManySilentPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := slices.Repeat([]string{"web.foo.com."}, 32)
		s := &slowly{world: world{"web.": "60 IN A 10.0.0.1"}, takes: map[string]time.Duration{"web.foo.com.": silent, "web.": 400 * time.Millisecond}}
		o := search.Walk(t.Context(), append(names, "web."), dns.TypeA, s.lookup)
		require.Equal(t, search.Found, o.Result)
		require.Equal(t, 33, o.Lookups)
		time.Sleep(silent)
	})
}

// A search ends with its query.
func TestASearchEndsWithItsQuery(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var asked []string
	o := search.Walk(ctx, search.Names("web.", paths), dns.TypeA, world{}.lookup(&asked))
	require.Equal(t, search.Failed, o.Result)
	require.Empty(t, asked)
}
