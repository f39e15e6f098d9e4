package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/vault"
)

// The janitor's rhythm.
const (
	tidyEvery = time.Minute
	secretAge = 10 * time.Minute // longer than any write takes from sealing a value to referring to it
	unclaimed = 10 * time.Minute // longer than any request takes from writing a release to being accepted
)

// janitor finishes and removes, at times, what crashed writers have left.
type janitor struct {
	documents  intent.Store
	vault      *vault.Vault
	releases   *release.Service
	identities identities
	log        *slog.Logger
}

func (j *janitor) run(ctx context.Context) error {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		if err := j.documents.Sweep(ctx); err != nil && ctx.Err() == nil {
			j.log.WarnContext(ctx, "the document store cannot be swept", "error", err)
		}
		if err := j.vault.Sweep(ctx, secretAge); err != nil && ctx.Err() == nil {
			j.log.WarnContext(ctx, "sealed values cannot be swept", "error", err)
		}
		if err := j.releases.Sweep(ctx, unclaimed); err != nil && ctx.Err() == nil {
			j.log.WarnContext(ctx, "releases cannot be swept", "error", err)
		}
		if err := j.identities.Sweep(ctx); err != nil && ctx.Err() == nil {
			j.log.WarnContext(ctx, "identities of clusters cannot be swept", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
