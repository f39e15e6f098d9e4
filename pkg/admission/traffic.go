package admission

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// madeTrafficGroup is the body of a default traffic group that nobody has written.
const madeTrafficGroup = `{"metadata":{"name":"default","description":"holds the intents that were given without a traffic group"},"spec":{}}`

// store writes a document, and the default traffic group before it if that is missing.
// A crash in between leaves a traffic group without intents, from which nothing follows;
// remove takes it away with its deployment intent group.
func (a *Admitter) store(ctx context.Context, write intent.Write) (intent.Document, error) {
	doc, err := a.Store.Put(ctx, write)
	parent := write.Path.Parent()
	if missing, ok := errors.AsType[*intent.MissingReference](err); !ok || missing.To != parent || !intent.IsDefaultTrafficGroup(parent) {
		return doc, err
	}
	made, err := a.Store.Put(ctx, intent.Write{
		Path: parent, Refs: []intent.Path{parent.Parent()}, Body: []byte(madeTrafficGroup), Condition: intent.IfAbsent(),
	})
	if err != nil && !isExisting(err) {
		return intent.Document{}, putError(parent, err)
	}
	if doc, err = a.Store.Put(ctx, write); err != nil && made.Path != "" {
		return doc, errors.Join(err, a.dropMade(ctx, parent))
	}
	return doc, err
}

// isExisting tells the Conflict of a document that exists from one with a missing
// reference.
func isExisting(err error) bool {
	var missing *intent.MissingReference
	return intent.CodeOf(err) == intent.Conflict && !errors.As(err, &missing)
}

// remove deletes a document. If a default traffic group that was made is in the way and
// has no intents, it goes first.
func (a *Admitter) remove(ctx context.Context, path intent.Path, condition intent.Condition) error {
	err := a.Store.Delete(ctx, path, condition)
	made := intent.DefaultTrafficGroup(path)
	if referenced, ok := errors.AsType[*intent.Referenced](err); !ok || !slices.Contains(referenced.By, made) {
		return err
	}
	if err := a.dropMade(ctx, made); err != nil {
		return err
	}
	return a.Store.Delete(ctx, path, condition)
}

// dropMade deletes a default traffic group, unless somebody has written it or it has
// intents.
func (a *Admitter) dropMade(ctx context.Context, traffic intent.Path) error {
	doc, err := a.Store.Get(ctx, traffic)
	if err == nil && bytes.Equal(doc.Body, []byte(madeTrafficGroup)) {
		err = a.Store.Delete(ctx, traffic, intent.IfRevision(doc.Revision))
	}
	if code := intent.CodeOf(err); code == intent.NotFound || code == intent.Conflict || code == intent.PreconditionFailed {
		return nil
	}
	return err
}
