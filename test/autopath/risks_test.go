package autopath

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// The first risk of the seed: pods that ask the cluster's DNS by themselves,
// without the option. The search domain alone tells it the paths.
func TestAPodThatAsksTheClusterDNSDirectlyResolves(t *testing.T) {
	s := NewSite(t)
	asked := edns0()
	asked.Searches = HostSearch() // there is no node to ask for them
	pod := s.DNSPod(t, s.Asked(asked, true))
	start(t, pod)
	requireSameAnswers(t, pod.HostPort(), many()/3, func(namespace string) Resolver {
		return Expanding(pod.HostPort(), namespace)
	})
}

// The third risk of the seed: the server does not know the option. Names
// resolve, and it is counted and logged.
func TestAServerThatDoesNotKnowTheOptionIsNoticed(t *testing.T) {
	s := NewSite(t)
	stock := s.DNSPod(t, s.Asked(nil, false))
	start(t, stock)
	n := &node{Site: s, spec: s.Asked(edns0(), true), pod: stock}
	cache := n.newCache(t)
	start(t, cache)
	began := time.Now()
	requireSameAnswers(t, cache.HostPort(), many()/3, func(namespace string) Resolver {
		return Expanding(stock.HostPort(), namespace)
	})
	metrics, err := cache.Metrics(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `(?m)^coredns_searchpath_unsupported_total\{.*\} [1-9]`, metrics)
	log, err := os.ReadFile(cache.Log)
	require.NoError(t, err)
	logged, most := strings.Count(string(log), "does not know the EDNS0 option 65001"), 1+int(time.Since(began)/time.Minute)
	require.True(t, 1 <= logged && logged <= most, "once a minute: %d times in %s", logged, time.Since(began))
}

// The second risk of the seed: what the option makes larger goes over TCP, as
// all does that a node's cache asks. The option is the seed's: a comma-separated
// string of the search paths.
func TestLargeAnswersAndTheOptionGoOverTCP(t *testing.T) {
	n := newNode(t, NewSite(t), edns0())
	wire := hear(t, n.pod)
	for _, name := range []string{"many", "many.example.org"} {
		want := resolve(t, Expanding(n.pod.HostPort(), "shop"), name)
		require.GreaterOrEqual(t, len(want.Addresses), Many)
		require.Positive(t, want.TCP)
		wire.queries(t)
		got := resolve(t, WithAutopath(n.cache.HostPort(), "shop"), name)
		require.Equal(t, text(want.Addresses), text(got.Addresses))
		require.Equal(t, want.TCP, got.TCP, "pods fetch over TCP what is too large for UDP")
		require.Equal(t, text(want.Addresses), text(getent(t, WithAutopath(n.cache.HostPort(), "shop"), name)), "glibc, too")
		paths := string(autopath.Encode(autopath.Paths("shop", corefile.DefaultDomain, HostSearch()...)))
		asked := wire.queries(t)
		require.Len(t, asked, 2, "one of each type, and then the cache has them")
		for _, query := range asked {
			require.Equal(t, "tcp", query.Proto)
			require.Equal(t, name, query.Name)
			require.Equal(t, map[uint16]string{autopath.Option: paths}, query.Options)
		}
	}
}

// A Service that is made after its name was looked up is seen when the negative
// TTL has passed in both caches: also where the name was found outside, whose
// answers live for longer.
func TestANewServiceIsSeenWithinTheNegativeTTL(t *testing.T) {
	const slack = 30 * time.Second // for the Service to come to the DNS pod; still less than what the answers found outside live
	for _, c := range []struct {
		wanted *intent.Autopath
		within time.Duration
	}{
		{edns0(), 2 * 5 * time.Second},   // what the cluster says of missing names, and CoreDNS keeps them for at least
		{static(), 2 * 30 * time.Second}, // what the servers of search domains say
	} {
		t.Run(string(c.wanted.Mode), func(t *testing.T) {
			n := newNode(t, NewSite(t), c.wanted)
			short := WithAutopath(n.cache.HostPort(), "shop")
			require.Empty(t, resolve(t, short, "late").Addresses)
			require.Equal(t, "203.0.113.8", text(resolve(t, short, "late.example").Addresses))
			require.Equal(t, "198.51.100.13", text(resolve(t, short, "late-host").Addresses))
			want := map[string]string{
				"late": n.service(t, "shop", "late"), "late.example": n.service(t, "example", "late"), "late-host": n.service(t, "shop", "late-host"),
			}
			wait.For(t, c.within+slack, "the Services to be seen", func() error {
				for name, address := range want {
					if got := text(resolve(t, short, name).Addresses); got != address {
						return fmt.Errorf("%s is %q, not %q", name, got, address)
					}
				}
				return nil
			})
		})
	}
}

// service makes a Service, and answers its address.
func (n *node) service(t *testing.T, namespace, name string) string {
	t.Helper()
	require.NoError(t, n.Server.Apply(t.Context(), fmt.Sprintf(
		"{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: %s}, spec: {ports: [{port: 80}]}}", name, namespace)))
	service, err := n.Server.Client.CoreV1().Services(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return service.Spec.ClusterIP
}

// stream looks names up without a pause, in several pods at once, until it is
// stopped; no lookup may fail.
type stream struct {
	lookups atomic.Int64
	stop    context.CancelFunc
	group   *errgroup.Group
}

const pods = 4

// streamTo starts a stream. Every second name is another each time, so that the
// question goes all the way. One more pod asks for what nobody answers, so that
// there is always an answer that is waited for.
func streamTo(t *testing.T, r Resolver) *stream {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	s := &stream{stop: stop, group: &errgroup.Group{}}
	s.group.Go(func() error {
		for ctx.Err() == nil {
			_, _ = exchange(ctx, "udp", r.Server, new(dns.Msg).SetQuestion("silent.example."+r.Search[0]+".", dns.TypeA))
		}
		return nil
	})
	for pod := range pods {
		s.group.Go(func() error {
			for n := 0; ctx.Err() == nil; n++ {
				name, want := "service123", 1
				switch {
				case n%2 == 0:
					name, want = fmt.Sprintf("missing-%d-%d", pod, n), 0
				case n%11 == 0: // over TCP
					name, want = "many", 2*Many
				}
				began := time.Now()
				result, err := r.Lookup(context.WithoutCancel(ctx), name)
				if err == nil && (len(result.Addresses) != want || result.Failed || time.Since(began) >= timeout) {
					err = fmt.Errorf("%s: %v after %s", name, result, time.Since(began))
				}
				if err != nil {
					return err
				}
				s.lookups.Add(1)
			}
			return nil
		})
	}
	return s
}

// more waits for the stream to look up so many names more.
func (s *stream) more(t *testing.T, names int64) {
	t.Helper()
	goal := s.lookups.Load() + names
	wait.For(t, time.Minute, "lookups to go on", func() error {
		if now := s.lookups.Load(); now < goal {
			return fmt.Errorf("%d of %d", now, goal)
		}
		return nil
	})
}

// end stops the stream, and expects that no lookup has failed.
func (s *stream) end(t *testing.T) {
	t.Helper()
	s.stop()
	require.NoError(t, s.group.Wait())
	t.Logf("%d lookups", s.lookups.Load())
}

// The first risk of the seed again: the node's cache is replaced. Its successor
// listens before it goes, on the same address, and not one lookup is lost.
func TestANodesCacheIsReplacedWithoutALostLookup(t *testing.T) {
	n := newNode(t, NewSite(t), edns0())
	s := streamTo(t, WithAutopath(n.cache.HostPort(), "shop"))
	for range 3 {
		s.more(t, 500)
		successor := n.newCache(t)
		start(t, successor)
		s.more(t, 500)
		const grace = 30 * time.Second // as pods have
		require.NoError(t, n.cache.Stop(grace))
		s.more(t, 500)
		n.cache = successor
	}
	s.end(t)
}

// While the cluster's DNS is away, what the node's cache has is answered; when it
// is back, everything is.
func TestTheClusterDNSIsRestarted(t *testing.T) {
	n := newNode(t, NewSite(t), edns0())
	short := WithAutopath(n.cache.HostPort(), "shop")
	require.Equal(t, "10.96.1.1", text(resolve(t, short, "service123").Addresses))
	n.pod.Kill()
	require.Equal(t, "10.96.1.1", text(resolve(t, short, "service123").Addresses))
	require.True(t, resolve(t, short, "service123.ns2").Failed, "not that there is no such name")
	start(t, n.pod)
	wait.For(t, time.Minute, "names to be found again", func() error {
		result, err := short.Lookup(t.Context(), "service123.ns2")
		if err == nil && text(result.Addresses) != "10.96.2.1" {
			err = fmt.Errorf("%v", result)
		}
		return err
	})
}
