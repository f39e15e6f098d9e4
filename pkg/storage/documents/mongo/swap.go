package mongo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

const (
	settleTimeout  = 3 * time.Second // for finding out what became of a swap
	settleAttempts = 4
	longestPause   = 64 * time.Millisecond
)

// outcome is what became of a swap.
type outcome int

const (
	refused   outcome = iota // the record was not as it was read: nothing happened
	done                     // it happened
	overtaken                // its answer was lost, and the record was changed again since
)

// swap makes after of before, if the record still is before: nil stands for
// no record. name is the step's name.
func (s *Store) swap(ctx context.Context, name string, before, after *record) (outcome, error) {
	result, err := s.trySwap(ctx, name, before, after)
	if intent.CodeOf(err) != intent.Unavailable {
		return result, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return s.settle(ctx, name, before, after, err)
}

func (s *Store) trySwap(ctx context.Context, name string, before, after *record) (outcome, error) {
	if err := s.hook("before " + name); err != nil {
		return refused, err
	}
	changed, err := s.send(ctx, before, after)
	if mongo.IsDuplicateKeyError(err) {
		return refused, nil
	}
	if err != nil {
		return refused, unavailable(name, err)
	}
	if err := s.hook("after " + name); err != nil {
		return refused, err
	}
	if !changed {
		return refused, nil
	}
	return done, nil
}

func (s *Store) send(ctx context.Context, before, after *record) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	switch {
	case before == nil:
		_, err := s.records.InsertOne(ctx, after)
		return err == nil, err
	case after == nil:
		answer, err := s.records.DeleteOne(ctx, before.filter())
		return err == nil && answer.DeletedCount == 1, err
	}
	answer, err := s.records.ReplaceOne(ctx, before.filter(), after)
	return err == nil && answer.MatchedCount == 1, err
}

func (r *record) filter() bson.D {
	return bson.D{{Key: "_id", Value: r.ID}, {Key: "token", Value: r.Token}}
}

func (r *record) path(other *record) intent.Path {
	if r == nil {
		return intent.Path(other.ID)
	}
	return intent.Path(r.ID)
}

// settle finds out what became of a swap whose answer was lost. If the record has its
// token (or is gone), it succeeded. If the record is as it was, the swap is tried again.
// Otherwise another change came first.
func (s *Store) settle(ctx context.Context, name string, before, after *record, cause error) (outcome, error) {
	path := before.path(after)
	again := false
	for range settleAttempts {
		now, err := s.find(ctx, path)
		switch {
		case err != nil:
			return refused, draft.Unknown(path, errors.Join(cause, err))
		case sameToken(now, after):
			return done, nil
		case !sameToken(now, before):
			return overtaken, nil
		case again:
			return refused, nil
		}
		result, err := s.trySwap(ctx, name, before, after)
		if result == done {
			return done, nil
		}
		again = err == nil
	}
	return refused, draft.Unknown(path, cause)
}

func sameToken(a, b *record) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Token == b.Token
}

// pause lets others go on: for a random time that grows with the attempts.
func pause(ctx context.Context, attempt int) error {
	limit := min(time.Millisecond<<min(attempt, 10), longestPause)
	timer := time.NewTimer(rand.N(limit) + limit/4)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
