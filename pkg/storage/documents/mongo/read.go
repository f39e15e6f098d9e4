package mongo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// Get implements intent.Store.
func (s *Store) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	if err := draft.CheckPath(path); err != nil {
		return intent.Document{}, err
	}
	found, err := s.find(ctx, path)
	if err != nil {
		return intent.Document{}, err
	}
	doc := found.document()
	if doc == nil {
		return intent.Document{}, intent.ErrNotFound(path)
	}
	return *doc, nil
}

// GetAll implements intent.Store.
func (s *Store) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	place := make(map[string]int, len(paths))
	for n, path := range paths {
		if err := draft.CheckPath(path); err != nil {
			return nil, err
		}
		place[string(path)] = n
	}
	found, err := s.all(ctx, "read many documents", bson.D{among(paths)}, options.Find())
	if err != nil {
		return nil, err
	}
	docs := []intent.Document{}
	for _, r := range found {
		if doc := r.document(); doc != nil {
			docs = append(docs, *doc)
		}
	}
	slices.SortFunc(docs, func(a, b intent.Document) int { return place[string(a.Path)] - place[string(b.Path)] })
	return docs, nil
}

// find reads the record, nil when there is none.
func (s *Store) find(ctx context.Context, path intent.Path) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var r record
	err := s.records.FindOne(ctx, bson.D{{Key: "_id", Value: string(path)}}).Decode(&r)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable("read "+string(path), err)
	}
	return &r, nil
}

// all reads the records that a filter selects.
func (s *Store) all(ctx context.Context, what string, filter bson.D, opts *options.FindOptionsBuilder) ([]record, error) {
	var found []record
	err := s.each(ctx, what, filter, opts, func(r record) (more bool) {
		found = append(found, r)
		return true
	})
	return found, err
}

// each visits the records that a filter selects, until visit wants no more.
func (s *Store) each(ctx context.Context, what string, filter bson.D, opts *options.FindOptionsBuilder, visit func(record) (more bool)) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	cursor, err := s.records.Find(ctx, filter, opts)
	if err != nil {
		return unavailable(what, err)
	}
	defer func() { _ = cursor.Close(ctx) }()
	for cursor.Next(ctx) {
		var r record
		if err := cursor.Decode(&r); err != nil {
			return unavailable(what, err)
		}
		if !visit(r) {
			return nil
		}
	}
	if err := cursor.Err(); err != nil {
		return unavailable(what, err)
	}
	return nil
}

// List implements intent.Store.
func (s *Store) List(ctx context.Context, list intent.ListOptions) (intent.Page, error) {
	after, err := draft.After(list)
	if err != nil {
		return intent.Page{}, err
	}
	without := bson.D{{Key: "pending", Value: 0}}
	if list.PathsOnly {
		without = append(without, bson.E{Key: "live.body", Value: 0})
	}
	opts := options.Find().SetSort(bson.D{{Key: "name", Value: 1}}).SetProjection(without)
	if list.Bytes > 0 {
		opts = opts.SetBatchSize(boundedBatch)
	}
	if list.Limit > 0 {
		opts = opts.SetLimit(int64(list.Limit) + 1)
	}
	filter := bson.D{
		{Key: "collection", Value: list.Collection},
		{Key: "name", Value: nameRange(list.NamePrefix, after)},
		{Key: "live.revision", Value: bson.D{{Key: "$gt", Value: 0}}},
	}
	page, size := intent.Page{Items: []intent.Document{}}, int64(0)
	err = s.each(ctx, "list "+list.Collection, filter, opts, func(r record) (more bool) {
		if !strings.HasPrefix(r.Name, list.NamePrefix) {
			return false
		}
		doc := *r.document()
		size += int64(len(doc.Body))
		if draft.Full(list, len(page.Items), size) {
			page.Continue = draft.Cursor(page.Items[len(page.Items)-1].Path.Name())
			return false
		}
		page.Items = append(page.Items, doc)
		return true
	})
	if err != nil {
		return intent.Page{}, err
	}
	return page, nil
}

// boundedBatch is how many records the server sends at once for a page whose bytes
// are bounded.
const boundedBatch = 32

// Usage counts the document at a path and those below it, and the bytes of their
// bodies.
func (s *Store) Usage(ctx context.Context, path intent.Path) (documents int, bytes int64, err error) {
	collection, name := path.Split()
	below := bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: "collection", Value: collection}, {Key: "name", Value: name}},
		bson.D{{Key: "collection", Value: bson.D{{Key: "$gte", Value: string(path) + "/"}, {Key: "$lt", Value: string(path) + "0"}}}},
	}}}
	opts := options.Find().SetProjection(bson.D{{Key: "pending", Value: 0}}).SetBatchSize(boundedBatch)
	err = s.each(ctx, "count what is below "+string(path), below, opts, func(r record) (more bool) {
		if doc := r.document(); doc != nil {
			documents, bytes = documents+1, bytes+int64(len(doc.Body))
		}
		return true
	})
	return documents, bytes, err
}

const lastASCII = 0x7f

// nameRange selects the names behind after that begin with prefix, and, where
// the prefix ends in the last ASCII character or beyond, some more.
func nameRange(prefix, after string) bson.D {
	names := bson.D{{Key: "$gte", Value: prefix}, {Key: "$gt", Value: after}}
	if prefix == "" {
		return names
	}
	if last := prefix[len(prefix)-1]; last < lastASCII {
		end := prefix[:len(prefix)-1] + string(rune(last+1))
		names = append(names, bson.E{Key: "$lt", Value: end})
	}
	return names
}

// Referrers implements intent.Store.
func (s *Store) Referrers(ctx context.Context, path intent.Path) ([]intent.Path, error) {
	if err := draft.CheckPath(path); err != nil {
		return nil, err
	}
	h, err := s.holders(ctx, path)
	return h.live, err
}

// ReferrersAfter implements intent.Store.
func (s *Store) ReferrersAfter(ctx context.Context, path, after intent.Path, limit int) ([]intent.Path, error) {
	if err := draft.CheckPath(path); err != nil {
		return nil, err
	}
	filter := bson.D{{Key: "holds", Value: string(path)}, {Key: "_id", Value: bson.D{{Key: "$gt", Value: string(after)}}}}
	order := options.Find().SetProjection(bson.D{{Key: "live.refs", Value: 1}}).SetSort(bson.D{{Key: "_id", Value: 1}})
	var found []intent.Path
	err := s.each(ctx, "look for references to "+string(path), filter, order, func(r record) (more bool) {
		if r.refersTo(path) {
			found = append(found, intent.Path(r.ID))
		}
		return len(found) < limit
	})
	return found, err
}

// refersTo tells whether the record refers to a path for all to see.
func (r *record) refersTo(path intent.Path) bool {
	return r.Live != nil && slices.Contains(r.Live.Refs, string(path))
}

// holders are the records that refer to one, in order.
type holders struct {
	live    []intent.Path // for all to see
	pending []intent.Path // by a pending content alone
}

// none reports whether nobody refers to the record, nor is about to.
func (h holders) none() bool { return len(h.live)+len(h.pending) == 0 }

func (s *Store) holders(ctx context.Context, path intent.Path) (holders, error) {
	projection := options.Find().SetProjection(bson.D{{Key: "live.refs", Value: 1}})
	found, err := s.all(ctx, "look for references to "+string(path), bson.D{{Key: "holds", Value: string(path)}}, projection)
	var h holders
	for _, r := range found {
		if r.refersTo(path) {
			h.live = append(h.live, intent.Path(r.ID))
		} else {
			h.pending = append(h.pending, intent.Path(r.ID))
		}
	}
	slices.Sort(h.live)
	slices.Sort(h.pending)
	return h, err
}
