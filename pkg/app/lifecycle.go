package app

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/history"
)

// lifecycle is what the edges ask for: releases, and the status that follows
// from them.
type lifecycle struct {
	*release.Service
	history *history.History
	idle    func() bool // whether no worker is running, as far as is known
}

// Events lists what happened to a group or a logical cloud, and which documents
// of it were written since, oldest first.
func (l lifecycle) Events(ctx context.Context, owner intent.Path) ([]intent.Event, error) {
	events, err := l.Service.Events(ctx, owner)
	if err != nil || len(events) == 0 {
		return events, err
	}
	for n := range events {
		events[n].Path = owner
	}
	writes, err := l.history.Writes(ctx, owner)
	if err != nil {
		return nil, err
	}
	before := func(e intent.Event) bool { return e.Time.Before(events[0].Time) }
	events = append(slices.DeleteFunc(writes, before), events...)
	slices.SortStableFunc(events, func(a, b intent.Event) int { return a.Time.Compare(b.Time) })
	return events, nil
}

// Status answers where a group stands.
func (l lifecycle) Status(ctx context.Context, group intent.Path) (intent.Status, error) {
	snapshot, err := l.Snapshot(ctx, group)
	if err != nil {
		return intent.Status{}, err
	}
	snapshot.Idle = l.idle()
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
