package bench

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/test/bench/compare"
	etcdserver "github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// BenchmarkCommit makes an app context of 1,000 DNSEndpoints current, beside a
// put of each of the same keys, which is how such contexts are commonly
// written. What is read while the puts go on is a mixture. "bare" is the floor: the
// same keys and values in as few transactions, which render nothing and compare nothing. "sweep" removes
// the context before the last, which nobody waits for.
func BenchmarkCommit(b *testing.B) {
	b.Run("embedded", func(b *testing.B) { compareCommits(b, &counted{KV: embeddedEtcd(b)}) })
	b.Run("external", func(b *testing.B) { compareCommits(b, &counted{KV: externalEtcd(b)}) })
}

func compareCommits(b *testing.B, store *counted) {
	const objects = 1000
	contexts := appcontext.NewStore(store, time.Now)
	content := endpointsOf(b, objects)
	current, err := contexts.Current(b.Context(), "group")
	require.NoError(b, err)
	commit := func(b *testing.B) {
		current, err = contexts.Commit(b.Context(), current, appcontext.Context{ID: appcontext.NewID(), Objects: content})
		require.NoError(b, err)
	}
	sweep := func(b *testing.B) { require.NoError(b, contexts.Sweep(b.Context(), time.Hour)) }
	commit(b)
	keys, _, err := store.Range(b.Context(), kv.Range{Prefix: "/context/"})
	require.NoError(b, err)
	put := func(b *testing.B) {
		for _, item := range keys {
			_, _, err := store.Txn(b.Context(), nil, kv.Put("/a-put-per-key"+item.Key, item.Value))
			require.NoError(b, err)
		}
	}
	bare, forget := bareTransactions(store, keys)
	commit(b)
	times := compare.Run(b, time.Millisecond,
		compare.Contender{Name: "commit", Before: sweep, Turn: stopwatch(commit)},
		compare.Contender{Name: "sweep", Before: commit, Turn: stopwatch(sweep)},
		compare.Contender{Name: "bare", Before: forget, Turn: stopwatch(bare)},
		compare.Contender{Name: "puts", Turn: stopwatch(put)})
	b.ReportMetric(times[2].Ratio(times[0]), "bare/commit")
	b.ReportMetric(times[3].Ratio(times[0]), "puts/commit")
	b.ReportMetric(store.requestsOf(b, bare), "bare-requests")
	b.ReportMetric(store.requestsOf(b, commit), "commit-requests")
	b.ReportMetric(store.requestsOf(b, put), "puts-requests")
}

// bareTransactions write items below another key, as many at once as a commit does. That key is new in each turn, as
// the id of a context is. What they wrote is to be forgotten before they write again.
func bareTransactions(store kv.KV, items []kv.Item) (write, forget func(b *testing.B)) {
	const below, atOnce = "/bare/", 4
	ops := make([]kv.Op, len(items))
	turn := 0
	prepare := func() {
		turn++
		for n, item := range items {
			ops[n] = kv.Put(fmt.Sprint(below, turn, item.Key), item.Value)
		}
	}
	prepare()
	write = func(b *testing.B) {
		var all errgroup.Group
		all.SetLimit(atOnce)
		for batch := range kv.Batches(slices.Values(ops)) {
			all.Go(func() error { _, _, err := store.Txn(b.Context(), nil, batch...); return err })
		}
		require.NoError(b, all.Wait())
	}
	forget = func(b *testing.B) {
		_, _, err := store.Txn(b.Context(), nil, kv.DeletePrefix(below))
		require.NoError(b, err)
		prepare()
	}
	return write, forget
}

// stopwatch takes the time of something.
func stopwatch(do func(b *testing.B)) func(b *testing.B) time.Duration {
	return func(b *testing.B) time.Duration {
		began := time.Now()
		do(b)
		return time.Since(began)
	}
}

func embeddedEtcd(b *testing.B) kv.KV {
	b.Helper()
	server, err := etcd.StartEmbedded(b.Context(), etcd.EmbeddedOptions{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Close()) })
	return server.KV()
}

// externalEtcd is a server in a process of its own, which flushes its log as
// in production.
func externalEtcd(b testing.TB) kv.KV {
	b.Helper()
	return startEtcd(b, func(s *etcdserver.Server) {
		s.Args = slices.DeleteFunc(s.Args, func(arg string) bool { return arg == "--unsafe-no-fsync" })
	})
}

// unflushedEtcd flushes nothing, so that a busy disk blurs no figure that is not
// about it.
func unflushedEtcd(b testing.TB) kv.KV {
	b.Helper()
	return startEtcd(b, func(*etcdserver.Server) {})
}

func startEtcd(b testing.TB, prepare func(*etcdserver.Server)) kv.KV {
	b.Helper()
	server, err := etcdserver.NewServer(b.Context(), b.TempDir(), &process.Ports{})
	require.NoError(b, err)
	prepare(server)
	b.Cleanup(server.Kill)
	require.NoError(b, server.Start(b.Context()))
	client, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{server.URL}})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, client.Close()) })
	return client
}

// endpointsOf renders DNSEndpoints of one name each.
func endpointsOf(b *testing.B, count int) bundle.Bundle {
	b.Helper()
	group := groupOf(count, 1)
	choice := address.Choice{Sets: []address.Set{{Type: "A", Targets: []string{"198.18.0.1", "198.18.0.2"}}}}
	objects := make([]bundle.Object, 0, count)
	for _, binding := range group.Bindings {
		object, _, err := endpoints.Render(group, binding, slices.Repeat([]address.Choice{choice}, len(binding.Hosts)))
		require.NoError(b, err)
		objects = append(objects, object)
	}
	collected, err := bundle.Collect(objects)
	require.NoError(b, err)
	return collected
}

// counted counts the requests to a store.
type counted struct {
	kv.KV
	requests atomic.Int64
}

func (c *counted) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	c.requests.Add(1)
	return c.KV.Get(ctx, key)
}

func (c *counted) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	c.requests.Add(1)
	return c.KV.Range(ctx, r)
}

func (c *counted) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	c.requests.Add(1)
	return c.KV.Txn(ctx, when, then...)
}

// requestsOf tells how many requests something sends.
func (c *counted) requestsOf(b *testing.B, do func(b *testing.B)) float64 {
	before := c.requests.Load()
	do(b)
	return float64(c.requests.Load() - before)
}
