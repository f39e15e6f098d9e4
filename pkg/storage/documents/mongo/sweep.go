package mongo

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// helpAge is how long a write may be under way before another writer, which
// it keeps waiting, takes it for abandoned.
const helpAge = 2 * time.Second

// Sweep implements intent.Store: it finishes writes that have been under way
// for longer than the sweep age. A pending content is dropped: its writer has
// not acknowledged it. A deletion is finished as its deleter would have. Both
// are swaps, so a writer that is alive after all loses nothing but time.
func (s *Store) Sweep(ctx context.Context) error {
	old := bson.D{{Key: "staged", Value: bson.D{{Key: "$lte", Value: time.Now().Add(-s.sweepAge)}}}}
	found, err := s.all(ctx, "look for abandoned writes", old, options.Find())
	if err != nil {
		return err
	}
	var failures []error
	for i := range found {
		failures = append(failures, s.finish(ctx, &found[i]))
	}
	return errors.Join(failures...)
}

// help finishes another's write if that has taken too long.
func (s *Store) help(ctx context.Context, r *record) error {
	if time.Since(r.Staged) < helpAge {
		return nil
	}
	return s.finish(ctx, r)
}

// helpPath is help for a record of which only a part was read.
func (s *Store) helpPath(ctx context.Context, part *record) error {
	if time.Since(part.Staged) < helpAge {
		return nil
	}
	whole, err := s.find(ctx, intent.Path(part.ID))
	if err != nil || !whole.busy() {
		return err
	}
	return s.help(ctx, whole)
}

// finish ends what is under way on the record, if it still is. That of a newer
// program is left to such a one.
func (s *Store) finish(ctx context.Context, r *record) error {
	if err := intent.CheckSchema(r.ID, r.schema()); err != nil {
		return err
	}
	token, err := s.token()
	if err != nil {
		return err
	}
	name, after := "unstage", r.restored(token)
	if r.Deleting {
		h, err := s.holders(ctx, intent.Path(r.ID))
		if err != nil {
			return err
		}
		name = "unmark"
		if len(h.live)+len(h.pending) == 0 {
			name, after = "remove", nil
		}
	}
	_, err = s.swap(ctx, name, r, after)
	return err
}
