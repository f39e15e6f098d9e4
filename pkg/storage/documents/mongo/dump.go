package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Dump answers all documents as they are stored, by path, without writes in progress.
// They are read one after another; each is there with its references. The error has the
// code Unavailable when so much is written meanwhile that no reading is whole. For
// documents that this program does not know all of, it is that of intent.CheckSchema.
func (s *Store) Dump(ctx context.Context) (map[string][]byte, error) {
	const attempts = 10
	for range attempts {
		found, err := s.all(ctx, "read all documents", bson.D{}, options.Find())
		if err != nil {
			return nil, err
		}
		dump := make(map[string][]byte, len(found))
		for n := range found {
			if err := found[n].dumpInto(dump); err != nil {
				return nil, err
			}
		}
		if closed(found, dump) {
			return dump, nil
		}
	}
	return nil, &intent.Error{Code: intent.Unavailable, Detail: "the documents keep changing: back them up again"}
}

func (r *record) dumpInto(dump map[string][]byte) error {
	if err := intent.CheckSchema(r.ID, r.schema()); err != nil {
		return err
	}
	live := r.restored(r.Token)
	if live == nil {
		return nil
	}
	raw, err := bson.Marshal(live)
	dump[r.ID] = raw
	return err
}

// closed tells whether a dump holds all that its documents refer to.
func closed(found []record, dump map[string][]byte) bool {
	for n := range found {
		for _, ref := range refsOf(&found[n]) {
			if dump[string(ref)] == nil {
				return false
			}
		}
	}
	return true
}

// Load stores a document that Dump has answered, over any existing one.
func (s *Store) Load(ctx context.Context, id string, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := s.records.ReplaceOne(ctx, bson.D{{Key: "_id", Value: id}}, bson.Raw(raw), options.Replace().SetUpsert(true))
	if err != nil {
		return unavailable("load "+id, err)
	}
	return nil
}

// Empty tells whether there is no document, none under way either.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	found, err := s.all(ctx, "look for documents", bson.D{}, options.Find().SetLimit(1))
	return len(found) == 0, err
}
