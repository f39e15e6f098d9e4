package render

import (
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func told(t *testing.T, store kv.KV, cluster string, r observed.Reachability) {
	t.Helper()
	writer, err := observed.New(store).Writer(t.Context(), cluster, kv.Compare{Key: "/nobody"})
	require.NoError(t, err)
	require.NoError(t, writer.SetReachability(t.Context(), r))
}

func newOutlook() (*Renderer, *kvtest.Fake) {
	store := kvtest.NewFake()
	return &Renderer{Store: &state.Store{KV: store, Ledger: ledger.New(store), Observed: observed.New(store), Now: time.Now, Logger: slog.New(slog.DiscardHandler)}}, store
}

// TestNoStepReadsAboutAllClustersWhileTheOutlookIsKept: what a changed address
// costs does not grow with the clusters that are well.
func TestNoStepReadsAboutAllClustersWhileTheOutlookIsKept(t *testing.T) {
	t.Parallel()
	s, store := newOutlook()
	now := time.Now().UTC().Add(time.Hour) // of an owner whose clock is ahead
	for _, cluster := range []string{"edge+a", "edge+b", "edge+c"} {
		told(t, store, cluster, observed.Reachability{Reachable: true, Since: now})
	}
	require.NoError(t, s.KeepHealth(t.Context()))
	reads := 0
	store.Before = func(op, _ string) error {
		if op != "txn" {
			reads++
		}
		return nil
	}
	seen, err := s.clusterHealth(t.Context())
	require.NoError(t, err)
	require.Empty(t, seen.lost)
	require.Zero(t, reads)

	_, owner, err := store.Txn(t.Context(), nil, kv.Put(ledger.WorkerPrefix+"edge+b", []byte("x")))
	require.NoError(t, err)
	told(t, store, "edge+b", observed.Reachability{Since: now, Counted: now, Owner: owner})
	_, err = s.FollowReached(t.Context(), []string{"edge+b", "edge+new"})
	require.NoError(t, err)
	reads = 0
	seen, err = s.clusterHealth(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]time.Time{"edge+b": now}, seen.lost)
	require.Equal(t, 2, reads, "whether it is still silent, and who owns it")
	kept, err := s.reached(t.Context())
	require.NoError(t, err)
	read, err := s.Observed.Reachabilities(t.Context())
	require.NoError(t, err)
	require.Equal(t, read, kept.all)

	s.LoseHealth()
	told(t, store, "edge+b", observed.Reachability{Reachable: true, Since: now})
	seen, err = s.clusterHealth(t.Context())
	require.NoError(t, err)
	require.Empty(t, seen.lost, "who does not follow reads")
}

// TestAMessageAloneIsNobodysConcern: a watch of a cluster that is interrupted for a moment has a message. It would
// have each name of the cluster looked at.
func TestAMessageAloneIsNobodysConcern(t *testing.T) {
	t.Parallel()
	s, store := newOutlook()
	follow := func(r observed.Reachability) []string {
		told(t, store, "edge+a", r)
		changed, err := s.FollowReached(t.Context(), []string{"edge+a"})
		require.NoError(t, err)
		return changed
	}
	now := time.Now().UTC()
	answers := observed.Reachability{Reachable: true, Since: now}
	require.Equal(t, []string{"edge+a"}, follow(answers), "nobody keeps how clusters are")
	require.NoError(t, s.KeepHealth(t.Context()))
	troubled := answers
	troubled.Message = "not everything can be watched"
	require.Empty(t, follow(troubled))
	require.Empty(t, follow(answers))
	answers.Owner, answers.Since = 3, now.Add(time.Millisecond)
	require.Empty(t, follow(answers), "somebody else serves it, and it answers")
	require.Equal(t, []string{"edge+a"}, follow(observed.Reachability{Since: now.Add(time.Second), Counted: now}))
	require.Equal(t, []string{"edge+a"}, follow(observed.Reachability{Since: now.Add(time.Second), Counted: now, Owner: 7}))
	kept, err := s.reached(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(7), kept.all["edge+a"].Owner)
	require.Equal(t, []string{"edge+a"}, follow(answers), "it answers again")
}

// TestNobodyIsTakenOutByOldNews (I11): a process that stood still knows the time
// before it hears what has happened meanwhile.
func TestNobodyIsTakenOutByOldNews(t *testing.T) {
	t.Parallel()
	s, store := newOutlook()
	now := time.Now().UTC()
	silent := func(cluster string) {
		_, owner, err := store.Txn(t.Context(), nil, kv.Put(ledger.WorkerPrefix+cluster, []byte("x")))
		require.NoError(t, err)
		told(t, store, cluster, observed.Reachability{Since: now, Counted: now, Owner: owner})
	}
	for _, cluster := range []string{"edge+a", "edge+b", "edge+c"} {
		silent(cluster)
	}
	require.NoError(t, s.KeepHealth(t.Context()))
	seen, err := s.clusterHealth(t.Context())
	require.NoError(t, err)
	require.Len(t, seen.lost, 3)
	require.NotEmpty(t, seen.frozen)

	told(t, store, "edge+a", observed.Reachability{Reachable: true, Since: now})
	told(t, store, "edge+b", observed.Reachability{Reachable: true, Since: now})
	seen, err = s.clusterHealth(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"edge+c"}, slices.Collect(maps.Keys(seen.silent)))
	require.Equal(t, []string{"edge+c"}, slices.Collect(maps.Keys(seen.lost)))
	require.Empty(t, seen.frozen)

	now = now.Add(time.Minute)
	silent("edge+c") // again, after it was back
	seen, err = s.clusterHealth(t.Context())
	require.NoError(t, err)
	require.False(t, seen.lost["edge+c"].Before(now), "it counts anew")
}
