package intent

import (
	"context"
	"fmt"
	"time"
)

// Document is one stored document. Its readers share it: nobody may change Refs or Body.
type Document struct {
	Path      Path      // where it is
	UID       string    // random, given at creation; a deleted and recreated document has another
	Revision  int64     // 1 at creation, one more with each change
	CreatedAt time.Time // UTC, milliseconds
	UpdatedAt time.Time // UTC, milliseconds
	Refs      []Path    // the documents that must exist as long as this one refers to them, its parent included
	Body      []byte    // JSON, at most MaxBody bytes
	Schema    int       // the schema version that it needs, from 1: see Schema
}

// MaxBody is the size of the largest body that a Store takes, in bytes. The
// API refuses request bodies above 1 MiB; what the server adds fits the rest.
const MaxBody = 1<<20 + 256<<10

// Condition says in which state a document must be for a write to happen.
type Condition struct {
	kind     conditionKind
	revision int64
}

type conditionKind int

const (
	always conditionKind = iota
	absent
	atRevision
)

// Always holds in every state.
func Always() Condition { return Condition{kind: always} }

// IfAbsent holds while the document does not exist.
func IfAbsent() Condition { return Condition{kind: absent} }

// IfRevision holds while the document exists at exactly this revision.
func IfRevision(revision int64) Condition { return Condition{kind: atRevision, revision: revision} }

// Check judges the condition for a document's current revision, 0 when it does not exist.
// It returns nil, a Conflict (IfAbsent on an existing document) or a PreconditionFailed
// (another revision).
func (c Condition) Check(p Path, revision int64) error {
	switch {
	case c.kind == absent && revision != 0:
		return ErrExists(p)
	case c.kind == atRevision && revision != c.revision:
		return errRevision(p, c.revision, revision)
	}
	return nil
}

// Write is what Store.Put takes.
type Write struct {
	Path      Path
	Refs      []Path // duplicates and order do not matter
	Body      []byte
	Condition Condition
	Schema    int // the schema version that the body needs; 0 stands for 1
}

// ListOptions select a page of a collection.
type ListOptions struct {
	Collection string
	NamePrefix string // only names that begin so
	Limit      int    // at most so many, 0 for all
	Bytes      int    // no more than fit, by their bodies, and at least one; 0 for no bound
	Continue   string // where the last page ended: its Page.Continue
	After      string // in place of Continue: only names behind this one
	PathsOnly  bool   // documents need their paths alone, and may have nothing else: Bytes then bounds nothing
}

// PageBytes is the bound of pages for people and programs, at any requested size:
// hundreds of the largest documents are more than a server has memory for.
const PageBytes = 4 << 20

// PageItems is how many items a page has if a whole collection is read, within PageBytes.
const PageItems = 4000

// Page is a part of a collection, ordered by name (bytewise).
type Page struct {
	Items    []Document // never nil
	Continue string     // empty on the last page
}

// Store keeps documents, each under its path, and the references between
// them. It is safe for concurrent use. All methods are linearizable with
// respect to each other, but for List, whose pages are each consistent and
// read at one time each.
//
// An acknowledged write survives the death of the process and of the server
// (I1). No interleaving of calls and crashes leaves a document whose
// acknowledged references dangle (I10). Errors are *Error values: Unavailable
// when the server cannot be reached or the outcome of a write is unknown
// (the caller reads again), else as each method says.
type Store interface {
	// Get answers the document, or NotFound.
	Get(ctx context.Context, path Path) (Document, error)

	// GetAll answers those of the documents that exist, in the order of the
	// paths. Each is read at one time, not all of them together.
	GetAll(ctx context.Context, paths []Path) ([]Document, error)

	// List answers a page; Invalid when Continue is not one of its own.
	List(ctx context.Context, options ListOptions) (Page, error)

	// Put creates or replaces the document and answers it as stored. Writing
	// the body and references that are there already changes nothing and
	// answers the stored document with its old revision. Errors: those of
	// Condition.Check; that of CheckSchema; Conflict with a *MissingReference
	// cause when one of Refs does not exist; TooLarge.
	Put(ctx context.Context, write Write) (Document, error)

	// Delete removes the document. If the server's answer is lost, as when it restarts,
	// Delete succeeds once the document is gone, also by another's deletion. Errors:
	// NotFound; those of Condition.Check; that of CheckSchema; Conflict with a
	// *Referenced cause.
	Delete(ctx context.Context, path Path, condition Condition) error

	// DeleteAll removes those of the documents to which nobody refers, many in one request.
	// The others stay, and so do those of a newer schema. After an error, some may be gone.
	DeleteAll(ctx context.Context, paths []Path) error

	// Referrers lists the paths of the documents that refer to path, in order.
	Referrers(ctx context.Context, path Path) ([]Path, error)

	// ReferrersAfter lists the first of them behind a path, in order, and at most so many.
	// It answers fewer only if there are no more. Its cost follows the limit.
	ReferrersAfter(ctx context.Context, path, after Path, limit int) ([]Path, error)

	// Sweep finishes what crashed writers left behind. It may be called at any
	// time, by several at once.
	Sweep(ctx context.Context) error

	// Ping fails while the server does not answer.
	Ping(ctx context.Context) error

	// Close releases what the store holds.
	Close() error
}

// Each calls visit with all documents of a list, page by page, until it fails.
func Each(ctx context.Context, store Store, options ListOptions, visit func(Document) error) error {
	for {
		page, err := store.List(ctx, options)
		if err != nil {
			return err
		}
		for _, doc := range page.Items {
			if err := visit(doc); err != nil {
				return err
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

// Deleter deletes one document, as a Store does.
type Deleter interface {
	Delete(ctx context.Context, path Path, condition Condition) error
}

// DeleteEach does what Store.DeleteAll does, with one deletion after the other.
func DeleteEach(ctx context.Context, store Deleter, paths []Path) error {
	for _, path := range paths {
		err := store.Delete(ctx, path, Always())
		if code := CodeOf(err); err != nil && code != NotFound && code != Conflict {
			return err
		}
	}
	return nil
}

// Schema is the newest schema version of documents, releases and pointers that
// this program knows. A stored document carries the version that it needs: the
// lowest one whose programs read and write the document without losing anything.
// A document without a version is of version 1.
const Schema = 1

// CheckSchema refuses, with a Conflict, to change a document that needs a newer schema
// version than this program knows. It can be read, but a change would lose its unknown
// parts.
func CheckSchema(what string, schema int) error {
	if schema <= Schema {
		return nil
	}
	return &Error{Code: Conflict, Detail: fmt.Sprintf(
		"%s was written by a newer Signpost (schema %d, this one knows %d): it can be read here, and changed only by replicas of that version", what, schema, Schema)}
}
