// Package mongo keeps documents in MongoDB, one record each, by single-document
// operations alone: no transaction, no change stream.
//
// A writer that adds references first stages the new content as pending in the record
// itself, together with the references (holds). Then it checks that each target is there
// and not being deleted. Then it promotes the content by compare-and-swap. A deleter
// first marks the record as deleting. Then it looks for records that hold it, live or
// pending. Then it removes the record or takes the mark back. Whichever of the two comes
// second sees the first. Readers see a pending content as absent and a record being
// deleted as present. Sweep finishes what a crash leaves, or the next writer that meets
// it.
//
// Holds is one field, in one index. A reference that moves from pending to live stays
// under the same index entry, so that no scan can miss it.
package mongo

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

const (
	collectionName  = "documents"
	defaultDatabase = "signpost"
	requestTimeout  = 5 * time.Second  // for an answer, also for finding a primary
	listTimeout     = 15 * time.Second // for an answer of many records
	writeTimeout    = 15 * time.Second // of a whole write whose context has none
	defaultSweepAge = 30 * time.Second
)

// Store is an intent.Store in one MongoDB collection, "documents". A document
// refers to at most 2,000 others. Safe for concurrent use, and for several
// processes on one database.
type Store struct {
	client   *mongo.Client
	records  *mongo.Collection
	sweepAge time.Duration
	hook     func(step string) error
}

var _ intent.Store = (*Store)(nil)

// Option changes a Store.
type Option func(*Store)

// WithSweepAge sets for how long a write may be under way before Sweep takes
// it for abandoned, default 30 s. A writer that was only slow notices, and
// tries again.
func WithSweepAge(age time.Duration) Option { return func(s *Store) { s.sweepAge = age } }

// WithHook sets a function that is called ahead of and behind each external
// write ("before stage", "after stage"), for tests of crashes and lost
// answers. Its error stands for the write's answer; ahead of the write, the
// write is not sent.
func WithHook(hook func(step string) error) Option { return func(s *Store) { s.hook = hook } }

// New connects to the server at uri ("mongodb://host/database"; credentials, replica set
// and TLS are its parameters). It makes the indexes in the database that the uri names,
// or in "signpost". Write concern is majority with journal, and reads are majority reads
// from the primary, with any uri. Invalid when the uri is not usable, Unavailable when
// the server does not answer.
func New(ctx context.Context, uri string, opts ...Option) (*Store, error) {
	s := &Store{sweepAge: defaultSweepAge, hook: func(string) error { return nil }}
	for _, option := range opts {
		option(s)
	}
	where, err := connstring.ParseAndValidate(uri)
	if err != nil {
		return nil, unusable(uri)
	}
	journal := true
	client, err := mongo.Connect(options.Client().ApplyURI(uri).
		SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.WCMajority, Journal: &journal}).
		SetReadConcern(readconcern.Majority()).
		SetReadPreference(readpref.Primary()).
		SetServerSelectionTimeout(requestTimeout).
		SetTimeout(requestTimeout))
	if err != nil {
		return nil, unusable(uri)
	}
	s.client = client
	s.records = client.Database(cmp.Or(where.Database, defaultDatabase)).Collection(collectionName)
	if err := s.createIndexes(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// createIndexes makes the indexes one by one: not every server that speaks the
// protocol takes several when some are there already.
func (s *Store) createIndexes(ctx context.Context) error {
	for _, keys := range []bson.D{
		{{Key: "collection", Value: 1}, {Key: "name", Value: 1}},
		{{Key: "holds", Value: 1}},
		{{Key: "staged", Value: 1}},
	} {
		if _, err := s.records.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: keys}); err != nil {
			return unavailable("make the indexes", err)
		}
	}
	return nil
}

// Ping implements intent.Store.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.client.Ping(ctx, readpref.Primary()); err != nil {
		return unavailable("ping", err)
	}
	return nil
}

// Close implements intent.Store. It waits a second at most for requests that
// are under way.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.client.Disconnect(ctx); err != nil && !errors.Is(err, mongo.ErrClientDisconnected) {
		return unavailable("disconnect", err)
	}
	return nil
}

// token is a new identity for a change.
func (s *Store) token() (string, error) { return draft.NewID(nil) }

func unavailable(what string, err error) error {
	return &intent.Error{Code: intent.Unavailable, Detail: "MongoDB does not answer: " + what, Err: err}
}
