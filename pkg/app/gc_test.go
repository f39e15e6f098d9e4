package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/connections"
)

// TestJobsThatNobodyWaitsForRunRarely: what they cost grows with the owners. The others run each minute, as that which
// notices that EMCO has deleted a context.
func TestJobsThatNobodyWaitsForRunRarely(t *testing.T) {
	t.Parallel()
	rarely := map[string]bool{}
	for _, one := range jobs(Config{}, nil, struct{ intent.Store }{}, nil, nil, nil, connections.Identities{}, nil, nil, prometheus.NewRegistry()) {
		rarely[one.what] = one.every > tidyEvery
	}
	for what, rare := range map[string]bool{"releases": false, "claims of names": true, "the history": true} {
		require.Contains(t, rarely, what)
		require.Equal(t, rare, rarely[what], what)
	}
}

// TestAJobRunsWhenItIsDue: and no more often.
func TestAJobRunsWhenItIsDue(t *testing.T) {
	t.Parallel()
	ran := map[string]int{}
	counted := func(what string, every time.Duration) job {
		return job{what, every, func(context.Context) error { ran[what]++; return nil }}
	}
	g := newGC(slog.New(slog.DiscardHandler), []job{counted("often", tidyEvery), counted("rarely", sweepEvery)})
	begin := time.Now()
	for minute := range 20 {
		g.runDue(t.Context(), begin.Add(time.Duration(minute)*time.Minute))
	}
	require.Equal(t, map[string]int{"often": 20, "rarely": 2}, ran)
}
