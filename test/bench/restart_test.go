package bench

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// BenchmarkRestart kills a server that publishes 10,000 names, each by a DNS
// intent of its own, in 100 groups, and starts it again. "ready" is until
// /readyz says so; "follows" is until the DNSEndpoint in a real cluster has an
// address that changed in another while the server was down. The floor opens
// the server's etcd and lists its keys. "writes/follow" counts what the server
// writes into the clusters for each of these changes: one DNSEndpoint. "rest" is
// what it costs when nothing happens.
func BenchmarkRestart(b *testing.B) {
	const groups, each = 100, 100
	m := openMall(b, groups, each)
	before, followed := m.writes(b), 0
	kill := func(*testing.B) { m.server.Kill() }
	times := compare.Run(b, time.Millisecond,
		compare.Contender{Name: "ready", Before: kill, Turn: stopwatch(func(b *testing.B) { m.start(b) })},
		compare.Contender{Name: "follows", Before: kill, Turn: func(b *testing.B) time.Duration {
			followed++
			address := m.move(b)
			began := time.Now()
			m.start(b)
			m.moving.await(b, address)
			took := time.Since(began)
			m.synced(b) // a server killed earlier would have to look what became of its write
			return took
		}},
		compare.Contender{Name: "floor", Before: kill, Turn: stopwatch(m.list)})
	b.ReportMetric(times[0].Ratio(times[2]), "ready/floor")
	b.ReportMetric(times[1].Ratio(times[2]), "follows/floor")
	m.server.Kill()
	m.start(b)
	m.rest(b)
	b.ReportMetric(float64(m.writes(b)-before)/float64(followed), "writes/follow")
}

// After a restart, what is in the clusters already is not written again, and
// what changed meanwhile is written once.
func TestARestartWritesNothingTwice(t *testing.T) {
	const groups, each = 4, 25
	m := openMall(t, groups, each)
	before := m.writes(t)
	m.server.Kill()
	address := m.move(t)
	m.start(t)
	m.moving.await(t, address)
	m.synced(t)
	wait.Always(t, allLookedAt, "nothing to be written twice", func() error {
		if wrote := m.writes(t) - before; wrote != 1 {
			return fmt.Errorf("%d writes, want one", wrote)
		}
		return nil
	})
}

// allLookedAt is longer than the server takes to look at every group once.
const allLookedAt = 12 * time.Second

// start starts the server, and returns when it is ready.
func (m *mall) start(t testing.TB) {
	t.Helper()
	const patience = time.Minute
	require.NoError(t, m.server.Launch())
	require.Eventually(t, func() bool { return m.server.IsReady(t.Context()) == nil }, patience, 2*time.Millisecond)
}

// list opens the store of a server that is down, and reads all that is there.
func (m *mall) list(b *testing.B) {
	b.Helper()
	store, err := etcd.StartEmbedded(b.Context(), etcd.EmbeddedOptions{Dir: filepath.Join(m.dir, "data", "etcd"), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	keys, _, err := store.KV().Range(b.Context(), kv.Range{Prefix: "/"})
	require.NoError(b, err)
	require.Greater(b, len(keys), m.groups*m.each)
	require.NoError(b, store.Close())
}

// rest reports how many MiB of the server are in memory at most, and how much
// of one processor it uses, while it has nothing to do but to look at
// everything again.
func (m *mall) rest(b *testing.B) {
	b.Helper()
	const twoRounds = 20 * time.Second // of looking at everything
	m.synced(b)
	most := int64(0)
	before, err := m.server.ProcessorTime()
	require.NoError(b, err)
	wait.Always(b, twoRounds, "the server to run", func() error {
		size, err := m.server.Resident()
		most = max(most, size)
		return err
	})
	after, err := m.server.ProcessorTime()
	require.NoError(b, err)
	b.ReportMetric(float64(most)/(1<<20), "resident-MiB")
	b.ReportMetric(100*float64(after-before)/float64(twoRounds), "rest-processor-%")
}
