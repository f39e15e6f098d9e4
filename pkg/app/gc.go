package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/documents/quota"
	"github.com/signpost-dns/signpost/pkg/storage/history"
	"github.com/signpost-dns/signpost/pkg/storage/namehistory"
	"github.com/signpost-dns/signpost/pkg/storage/replicas"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
	"github.com/signpost-dns/signpost/pkg/worker/connections"
)

// How often jobs run.
const (
	tidyEvery  = time.Minute
	sweepEvery = 10 * time.Minute // for a job that looks at many owners, and that nobody waits for
	pruneEvery = time.Hour
	secretAge  = 10 * time.Minute // longer than any write takes from sealing a value to referring to it
	tellWithin = time.Minute      // longer than any request takes from a drain to its event
	unclaimed  = 10 * time.Minute // longer than any request takes from writing a release to being accepted; as often, all lifecycles are read
)

// job is one kind of garbage collection.
type job struct {
	what  string // is collected
	every time.Duration
	do    func(ctx context.Context) error
}

// jobs finish and remove what crashed writers have left, and what is too old.
func jobs(c Config, stored *quota.Store, documents intent.Store, values *vault.Vault, registry *replicas.Registry, releases *release.Service, known connections.Identities, past *history.History, names *namehistory.History, metrics prometheus.Registerer) []job {
	return []job{
		{"the document store", tidyEvery, documents.Sweep},
		{"the keys of sealed values", tidyEvery, resealing(values, registry, metrics)},
		{"sealed values", tidyEvery, func(ctx context.Context) error { return values.Sweep(ctx, secretAge) }},
		{"releases", tidyEvery, func(ctx context.Context) error { return releases.Sweep(ctx, unclaimed) }}, // EMCO deletes contexts, and tells nobody
		{"claims of names", sweepEvery, sweepingClaims(releases, metrics)},
		{"identities of clusters", tidyEvery, known.Sweep},
		{"drains that no event tells of", tidyEvery, func(ctx context.Context) error { return releases.TellDrains(ctx, tellWithin) }},
		{"failovers that were undone", tidyEvery, func(ctx context.Context) error { return releases.NoteUndone(ctx) }},
		{"what projects have", pruneEvery, stored.Recount},
		{"the history", pruneEvery, func(ctx context.Context) error { return past.Prune(ctx, c.HistoryAge, c.HistoryCount) }},
		{"the history of names", pruneEvery, names.Prune},
	}
}

// sweepingClaims takes away claims that nobody holds, and counts the others.
func sweepingClaims(releases *release.Service, metrics prometheus.Registerer) func(context.Context) error {
	claimed := promauto.With(metrics).NewGaugeVec(prometheus.GaugeOpts{
		Name: "signpost_names_claimed", Help: "Names that projects have, by the kind of view of DNS, and namespaces of clusters.",
	}, []string{"view"})
	return func(ctx context.Context) error {
		counts, err := releases.SweepClaims(ctx)
		if err != nil {
			return err
		}
		claimed.Reset()
		for kind, count := range counts {
			claimed.WithLabelValues(kind).Set(float64(count))
		}
		return nil
	}
}

// gc runs jobs of garbage collection, one after the other.
type gc struct {
	log  *slog.Logger
	jobs []job
	next []time.Time // of each job
}

func newGC(log *slog.Logger, jobs []job) *gc {
	return &gc{log: log, jobs: jobs, next: make([]time.Time, len(jobs))}
}

func (g *gc) run(ctx context.Context) error {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		g.runDue(ctx, time.Now())
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// runDue runs the jobs that are due.
func (g *gc) runDue(ctx context.Context, now time.Time) {
	for n, c := range g.jobs {
		if now.Before(g.next[n]) {
			continue
		}
		g.next[n] = now.Add(c.every)
		if err := c.do(ctx); err != nil && ctx.Err() == nil {
			g.log.WarnContext(ctx, "garbage collection failed; it is tried again when it is due", "job", c.what, "error", err)
		}
	}
}
