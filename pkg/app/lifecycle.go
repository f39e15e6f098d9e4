package app

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/status"
)

// lifecycle is what the edges ask for: releases, and the status that follows
// from them.
type lifecycle struct{ *release.Service }

// Status answers where a group stands.
func (l lifecycle) Status(ctx context.Context, group intent.Path) (intent.Status, error) {
	snapshot, err := l.Snapshot(ctx, group)
	if err != nil {
		return intent.Status{}, err
	}
	return status.Of(snapshot), nil
}

// RecordStatus answers what is known of a record.
func (l lifecycle) RecordStatus(ctx context.Context, record intent.Path) (intent.RecordStatus, error) {
	snapshot, err := l.RecordSnapshot(ctx, record)
	if err != nil {
		return intent.RecordStatus{}, err
	}
	return status.OfRecord(snapshot), nil
}
