package mongo

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// deletedAtOnce is how many records are marked, looked for and removed in one request each.
const deletedAtOnce = 200

// DeleteAll implements intent.Store in the steps of Delete, each of them for many records:
// mark, look for references, remove. Records that are being changed are deleted one by one.
func (s *Store) DeleteAll(ctx context.Context, paths []intent.Path) error {
	for _, path := range paths {
		if err := draft.CheckPath(path); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(paths))), deletedAtOnce) {
		found, err := s.all(ctx, "read what is to be deleted", bson.D{among(some)}, options.Find())
		if err != nil {
			return err
		}
		var idle []record
		var others []intent.Path
		for _, r := range found {
			switch {
			case r.busy():
				others = append(others, intent.Path(r.ID))
			case r.schema() <= intent.Schema:
				idle = append(idle, r)
			}
		}
		if err := s.deleteIdle(ctx, idle); err != nil {
			return err
		}
		if err := intent.DeleteEach(ctx, s, others); err != nil {
			return err
		}
	}
	return nil
}

// deleteIdle deletes those of the records that nobody changes, and that nobody refers to.
// Sweep finishes what it has marked if it ends half way.
func (s *Store) deleteIdle(ctx context.Context, found []record) error {
	if len(found) == 0 {
		return nil
	}
	mark, err := s.token()
	if err != nil {
		return err
	}
	now, tokens, paths := time.Now(), bson.A{}, []intent.Path{}
	for _, r := range found {
		tokens, paths = append(tokens, r.Token), append(paths, intent.Path(r.ID))
	}
	unchanged := bson.D{among(paths), {Key: "token", Value: bson.D{{Key: "$in", Value: tokens}}}}
	err = s.request(ctx, "mark", func(ctx context.Context) error {
		_, err := s.records.UpdateMany(ctx, unchanged, bson.D{{Key: "$set", Value: bson.D{
			{Key: "token", Value: mark}, {Key: "deleting", Value: true}, {Key: "staged", Value: now},
		}}})
		return err
	})
	if err != nil {
		return err
	}
	held, err := s.held(ctx, paths)
	if err != nil {
		return err
	}
	for _, r := range found {
		if held[r.ID] {
			s.takeBack(ctx, "unmark", r.marked(mark, now)) // a record that was not marked stays as it is
		}
	}
	paths = slices.DeleteFunc(paths, func(path intent.Path) bool { return held[string(path)] })
	return s.request(ctx, "remove", func(ctx context.Context) error {
		_, err := s.records.DeleteMany(ctx, bson.D{among(paths), {Key: "token", Value: mark}})
		return err
	})
}

// request is one external write. If its answer is lost, the outcome is not known.
func (s *Store) request(ctx context.Context, name string, send func(context.Context) error) error {
	if err := s.hook("before " + name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := send(ctx); err != nil {
		return unavailable(name+" many records", err)
	}
	return s.hook("after " + name)
}

// held tells which of the records others refer to, or are about to.
func (s *Store) held(ctx context.Context, paths []intent.Path) (map[string]bool, error) {
	filter := bson.D{{Key: "holds", Value: bson.D{{Key: "$in", Value: ids(paths)}}}}
	found, err := s.all(ctx, "look for references", filter, options.Find().SetProjection(bson.D{{Key: "holds", Value: 1}}))
	held := map[string]bool{}
	for _, r := range found {
		for _, target := range r.Holds {
			held[target] = true
		}
	}
	return held, err
}

// among selects the records of the paths.
func among(paths []intent.Path) bson.E {
	return bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids(paths)}}}
}

func ids(paths []intent.Path) bson.A {
	all := make(bson.A, len(paths))
	for n, path := range paths {
		all[n] = string(path)
	}
	return all
}
