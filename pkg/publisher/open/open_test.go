package open

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// silent is a server that never answers; it keeps the changes that it was sent.
type silent struct {
	sent    []publisher.Change
	waiting int
	most    int
}

func (s *silent) Read(ctx context.Context, _ []string, _ ...string) (map[string]publisher.State, error) {
	s.waiting++
	s.most = max(s.most, s.waiting)
	<-ctx.Done()
	s.waiting--
	return nil, fault.Errorf(fault.Unreachable, "no answer: %v", ctx.Err())
}

func (s *silent) Write(_ context.Context, change publisher.Change) error {
	s.sent = append(s.sent, change)
	return nil
}

func (s *silent) Close() {}

// TestAnAnswerIsAwaitedNoLongerThanTheDeadline has a server that hangs, and more readers than places.
func TestAnAnswerIsAwaitedNoLongerThanTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silent{}
		registry := prometheus.NewRegistry()
		l := &limited{Writer: s, provider: "coredns", policy: "sync", places: make(chan struct{}, 1), metrics: NewMetrics(registry)}
		begun := time.Now()
		done := make(chan error, 2)
		for range 2 {
			go func() { _, err := l.Read(context.Background(), []string{"www.lab.example"}); done <- err }()
		}
		for range 2 {
			require.Equal(t, fault.Unreachable, fault.Of(<-done))
		}
		assert.Equal(t, 2*publisher.WriteDeadline, time.Since(begun))
		assert.Equal(t, 1, s.most, "one at a time, as there is one place")
		gathered, err := registry.Gather()
		require.NoError(t, err)
		for _, family := range gathered {
			if family.GetName() == "signpost_publisher_requests_total" {
				assert.InDelta(t, 2, family.GetMetric()[0].GetCounter().GetValue(), 0)
			}
		}
		assert.Len(t, gathered, 2)
	})
}

func TestPoliciesKeepSets(t *testing.T) {
	const name = "www.lab.example"
	own := publisher.Set{Name: name, Type: "A", Targets: []string{"192.0.2.1"}, TTL: 60, Mark: publisher.Mark{Owner: "one"}}
	next := publisher.Set{Name: name, Type: "A", Targets: []string{"192.0.2.2"}}
	for policy, want := range map[string]struct{ removed, changed []publisher.Set }{
		"sync":        {nil, []publisher.Set{{Name: name, Type: "A", Targets: []string{"192.0.2.2"}, TTL: 30}}},
		"upsert-only": {[]publisher.Set{own}, []publisher.Set{{Name: name, Type: "A", Targets: []string{"192.0.2.2"}, TTL: 30}}},
		"create-only": {[]publisher.Set{own}, []publisher.Set{own}},
	} {
		s := &silent{}
		l := &limited{Writer: s, owner: "one", policy: policy, ttl: 30, places: make(chan struct{}, 1)}
		before := publisher.State{Name: name, Sets: []publisher.Set{own, {Name: name, Type: "AAAA", Targets: []string{"2001:db8::1"}, Mark: publisher.Mark{Owner: "other"}}}}
		require.NoError(t, l.Write(t.Context(), publisher.Change{Before: before}))
		require.NoError(t, l.Write(t.Context(), publisher.Change{Before: before, After: []publisher.Set{next}}))
		assert.Equal(t, want.removed, s.sent[0].After, policy)
		assert.Equal(t, want.changed, s.sent[1].After, policy)
	}
}

func TestEachProviderHasItsWriter(t *testing.T) {
	for _, provider := range externaldns.BuiltIn() {
		_, err := Writer(publisher.Settings{Provider: provider, Owner: "one", Parameters: externaldns.Parameters{}}, nil)
		require.Equal(t, publisher.Invalid, fault.Of(err), "its server is missing: %v", err)
		assert.NotContains(t, err.Error(), "no built-in publisher")
	}
	_, err := Writer(publisher.Settings{Provider: "aws", Owner: "one"}, nil)
	assert.ErrorContains(t, err, "no built-in publisher")
}

// TestServersAreThoseThatAWriterConnectsTo compares what is told of the settings with what is dialled.
func TestServersAreThoseThatAWriterConnectsTo(t *testing.T) {
	for provider, given := range map[string]publisher.Settings{
		"coredns": {Parameters: externaldns.Parameters{"coredns-prefix": "lab"}, Environment: map[string]string{"ETCD_URLS": "http://192.0.2.1:2379"}},
		"rfc2136": {Parameters: externaldns.Parameters{
			"rfc2136-host": []any{"192.0.2.1", "192.0.2.2"}, "rfc2136-port": "5353", "rfc2136-zone": []any{"lab.example"}, "rfc2136-insecure": true,
		}},
		"webhook": {Parameters: externaldns.Parameters{"webhook-provider-url": "http://192.0.2.1"}},
	} {
		t.Run(provider, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), publisher.WriteDeadline)
			defer cancel()
			var mu sync.Mutex
			dialled := map[string]bool{}
			given.Provider, given.Owner = provider, "one"
			wanted := map[string]bool{}
			for _, server := range Servers(given) {
				wanted[server.Address+" "+server.Scope] = true
			}
			given.Dial = func(_ context.Context, _, address, scope string) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				dialled[address+" "+scope] = true
				if len(dialled) == len(wanted) {
					cancel()
				}
				return nil, fault.Errorf(publisher.Forbidden, "it is not listed")
			}
			w, err := Writer(given, nil)
			require.NoError(t, err)
			defer w.Close()
			_, err = w.Read(ctx, []string{"www.lab.example"})
			require.Error(t, err)
			mu.Lock()
			defer mu.Unlock()
			require.NotEmpty(t, wanted)
			assert.Equal(t, wanted, dialled)
		})
	}
	assert.Empty(t, Servers(publisher.Settings{Provider: "aws"}))
}
