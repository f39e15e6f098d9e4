package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// answerName is a name that follows the Service of a cluster.
type answerName struct {
	edge              *kube.Server
	provider, service string
	host              string
	server            string // HOST:PORT that answers it
	address           netip.Addr
}

func (n *answerName) zone() string {
	_, zone, _ := strings.Cut(n.host, ".")
	return zone
}

// move changes the address of the Service.
func (n *answerName) move(ctx context.Context) error {
	n.address = n.address.Next()
	patch := fmt.Appendf(nil, `{"status": {"loadBalancer": {"ingress": [{"ip": %q}]}}}`, n.address)
	_, err := n.edge.Client.CoreV1().Services(appNamespace).Patch(ctx, n.service, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// follow changes the address, and tells how long the server took to answer it.
func (n *answerName) follow(ctx context.Context, every time.Duration) (took time.Duration, wrong []string, err error) {
	before, began := n.address, time.Now()
	if err := n.move(ctx); err != nil {
		return 0, nil, err
	}
	return n.await(ctx, n.address.String(), before.String(), began, every)
}

// await asks until the server answers with one address, and tells how long that took. Answers
// meanwhile that are not the address of before are wrong.
func (n *answerName) await(ctx context.Context, want, before string, began time.Time, every time.Duration) (took time.Duration, wrong []string, err error) {
	const patience = 5 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		got, err := dns.Query(ctx, n.server, n.host, "A")
		if err != nil {
			return 0, nil, err
		}
		answer := strings.Join(got, " ")
		if answer == want {
			return time.Since(began), wrong, nil
		}
		if answer != before {
			wrong = append(wrong, "["+answer+"]")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, wrong, fmt.Errorf("%s did not become %s, but is %q: %w", n.host, want, answer, ctx.Err())
		}
	}
}

// sideline gathers the times of names that are measured beside others.
type sideline struct {
	mu    sync.Mutex
	times compare.Samples
	wrong int
}

func (s *sideline) follow(ctx context.Context, name *answerName, every time.Duration) error {
	took, wrong, err := name.follow(ctx, every)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times, s.wrong = append(s.times, took), s.wrong+len(wrong)
	return err
}

// oneByOne changes a name so often.
func (s *sideline) oneByOne(b *testing.B, name *answerName, times int, every time.Duration) error {
	for range times {
		noBurst(b)
		if err := s.follow(b.Context(), name, every); err != nil {
			return err
		}
	}
	return nil
}

// atOnce changes each name once, at a random instant of a minute.
func (s *sideline) atOnce(b *testing.B, names []*answerName, every time.Duration) error {
	group, ctx := errgroup.WithContext(b.Context())
	for _, name := range names {
		group.Go(func() error {
			select {
			case <-time.After(rand.N(time.Minute)):
			case <-ctx.Done():
				return ctx.Err()
			}
			return s.follow(ctx, name, every)
		})
	}
	return group.Wait()
}

// cost is what a server was asked for.
type cost struct {
	writes int // keys put and deleted, or versions of the zone
	reads  int // requests, each for at most 64 names; a look at all names once a minute is part of them
}

// costs are those of CoreDNS' etcd and of BIND. The servers count the writes.
func (w *answerWorld) costs(b *testing.B) [2]cost {
	b.Helper()
	reads, err := w.signpost.Do(b.Context(), http.MethodGet, "/metrics", "")
	require.NoError(b, err)
	text := string(reads.Body)
	soa, err := dns.Query(b.Context(), w.BIND.Address, dns.BINDZone, "SOA")
	require.NoError(b, err)
	const serial = 2
	version, err := strconv.Atoi(strings.Fields(soa[0])[serial])
	require.NoError(b, err)
	etcd := metrics(b, w.keys.URL+"/metrics")
	const series = "signpost_publisher_requests_total{"
	return [2]cost{
		{writes: sum(b, etcd, "etcd_mvcc_put_total ") + sum(b, etcd, "etcd_mvcc_delete_total "), reads: sum(b, text, series, `kind="coredns"`, `operation="read"`)},
		{writes: version, reads: sum(b, text, series, `kind="rfc2136"`, `operation="read"`)},
	}
}

func metrics(b *testing.B, url string) string {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(b, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(b, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(b, err)
	return string(text)
}

// sum adds the samples of metrics whose series have all of the parts, and fails if there is none.
func sum(b *testing.B, text, series string, parts ...string) int {
	b.Helper()
	total, found := 0.0, false
lines:
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, series) {
			continue
		}
		for _, part := range parts {
			if !strings.Contains(line, part) {
				continue lines
			}
		}
		fields := strings.Fields(line)
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		require.NoError(b, err)
		total, found = total+value, true
	}
	require.True(b, found, "no metric is %s%v", series, parts)
	return int(total)
}
