package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/history"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/vault"
)

// The janitor's rhythm.
const (
	tidyEvery  = time.Minute
	pruneEvery = time.Hour
	secretAge  = 10 * time.Minute // longer than any write takes from sealing a value to referring to it
	unclaimed  = 10 * time.Minute // longer than any request takes from writing a release to being accepted
)

// chore is one thing that the janitor does at times.
type chore struct {
	what  string // it does it to
	every time.Duration
	do    func(ctx context.Context) error
}

// chores finish and remove what crashed writers have left, and what is too old.
func chores(c Config, documents intent.Store, values *vault.Vault, releases *release.Service, known identities, past *history.History, metrics prometheus.Registerer) []chore {
	return []chore{
		{"the document store", tidyEvery, documents.Sweep},
		{"the keys of sealed values", tidyEvery, resealing(values, metrics)},
		{"sealed values", tidyEvery, func(ctx context.Context) error { return values.Sweep(ctx, secretAge) }},
		{"releases", tidyEvery, func(ctx context.Context) error { return releases.Sweep(ctx, unclaimed) }},
		{"identities of clusters", tidyEvery, known.Sweep},
		{"the history", pruneEvery, func(ctx context.Context) error { return past.Prune(ctx, c.HistoryAge, c.HistoryCount) }},
	}
}

// janitor does its chores, one after the other.
type janitor struct {
	log    *slog.Logger
	chores []chore
	next   []time.Time // of each chore
}

func newJanitor(log *slog.Logger, chores []chore) *janitor {
	return &janitor{log: log, chores: chores, next: make([]time.Time, len(chores))}
}

func (j *janitor) run(ctx context.Context) error {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		j.tidy(ctx, time.Now())
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// tidy does the chores that are due.
func (j *janitor) tidy(ctx context.Context, now time.Time) {
	for n, c := range j.chores {
		if now.Before(j.next[n]) {
			continue
		}
		j.next[n] = now.Add(c.every)
		if err := c.do(ctx); err != nil && ctx.Err() == nil {
			j.log.WarnContext(ctx, "a chore failed, and is done again when it is due", "chore", c.what, "error", err)
		}
	}
}
