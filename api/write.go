package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// tries is how often a write starts again when others change the document
// meanwhile.
const tries = 10

// create stores a new document in a collection.
func (e *edge) create(r resource) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		path := created(c.path, c.object)
		if old, err := e.find(ctx, path); err != nil || old != nil {
			return answer{}, cmp.Or(err, intent.ErrExists(path))
		}
		doc, err := e.store(ctx, path, c.body, nil)
		if err != nil {
			return answer{}, err
		}
		return e.stored(ctx, r, doc, http.StatusCreated)
	}
}

// created is the path of the document that a body creates in a collection.
func created(collection intent.Path, object map[string]any) intent.Path {
	path := intent.Join(string(collection), nameIn(object, "metadata", "name"))
	if strings.HasSuffix(string(collection), "/composite-apps") {
		path = intent.Join(string(path), nameIn(object, "spec", "compositeAppVersion"))
	}
	return path
}

// nameIn is a text in a validated body, empty when it is not there.
func nameIn(object map[string]any, section, field string) string {
	members, _ := object[section].(map[string]any)
	name, _ := members[field].(string)
	return name
}

// put creates or replaces a document, if its preconditions hold.
func (e *edge) put(r resource) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		asked, err := readPrecondition(c.header)
		if err != nil {
			return answer{}, err
		}
		for range tries {
			old, err := e.find(ctx, c.path)
			if err != nil {
				return answer{}, err
			}
			if err := asked.check(c.path, old); err != nil {
				return answer{}, err
			}
			doc, err := e.store(ctx, c.path, c.body, old)
			if err != nil {
				if e.moved(ctx, c.path, old, err) {
					continue
				}
				return answer{}, err
			}
			if old == nil {
				return e.stored(ctx, r, doc, http.StatusCreated)
			}
			return e.stored(ctx, r, doc, http.StatusOK)
		}
		return answer{}, &intent.Error{Code: intent.Unavailable, Detail: string(c.path) + " is being changed by others; try again"}
	}
}

// store admits, seals and stores a body that replaces old, nil for none.
func (e *edge) store(ctx context.Context, path intent.Path, body []byte, old *intent.Document) (intent.Document, error) {
	if e.NearlyFull() {
		return intent.Document{}, errNearlyFull()
	}
	write, err := e.Admitter.Admit(ctx, path, body, old)
	if err != nil {
		return intent.Document{}, err
	}
	for _, secret := range write.Secrets {
		id, err := e.Sealer.Store(ctx, path, secret.Field, secret.Value)
		if err != nil {
			return intent.Document{}, err
		}
		secret.Set(id)
	}
	doc, err := e.Admitter.Put(ctx, write)
	if err == nil {
		e.History.Wrote(ctx, old, &doc)
	}
	return doc, err
}

// errNearlyFull leaves what room there is to deletions, and to the work on what was
// accepted. Space that was freed comes back after minutes.
func errNearlyFull() error {
	const soon = 5 * time.Minute
	return &intent.Error{
		Code: intent.Unavailable, RetryAfter: soon,
		Detail: "the store is nearly full, and the document was not written: delete what is not needed, or have an operator enlarge the store",
	}
}

// find answers the document at path, nil when there is none.
func (e *edge) find(ctx context.Context, path intent.Path) (*intent.Document, error) {
	doc, err := e.Store.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil
	}
	return &doc, err
}

// moved tells whether a write failed because the document is not what it was.
func (e *edge) moved(ctx context.Context, path intent.Path, old *intent.Document, err error) bool {
	code := intent.CodeOf(err)
	if code != intent.PreconditionFailed && code != intent.Conflict {
		return false
	}
	now, err := e.find(ctx, path)
	if err != nil {
		return false
	}
	if old == nil || now == nil {
		return (old == nil) != (now == nil)
	}
	return old.UID != now.UID || old.Revision != now.Revision
}

// stored answers a document that was just written.
func (e *edge) stored(ctx context.Context, r resource, doc intent.Document, status int) (answer, error) {
	view, err := e.Admitter.View(ctx, doc)
	if err != nil {
		return answer{}, err
	}
	header := http.Header{"Etag": {etag(doc.Revision)}}
	if status == http.StatusCreated {
		header.Set("Location", "/v2/"+string(doc.Path))
	}
	if r.record {
		known, err := e.Lifecycle.RecordStatus(ctx, doc.Path)
		if err != nil { // the write is done; a GET tells the rest
			e.Log.WarnContext(ctx, "no status of a record", slog.String("path", string(doc.Path)), slog.Any("error", err))
		}
		view.Status = merged(view.Status, known)
	}
	if r.names {
		warnings, err := e.Lifecycle.NameWarnings(ctx, doc.Path)
		if err != nil { // the write is done; a plan tells the rest
			e.Log.WarnContext(ctx, "no warnings of names", slog.String("path", string(doc.Path)), slog.Any("error", err))
		}
		rest := func(text string) intent.Warning { return intent.Warning{Parameter: "hostnames", Message: text} }
		view.Status = warned(view.Status, told(warnings, rest))
	}
	return answer{status: status, header: header, body: view}, nil
}

// warned is a status with more warnings, nil for none at all.
func warned(status *review.Status, more []intent.Warning) *review.Status {
	if len(more) == 0 {
		return status
	}
	if status == nil {
		status = &review.Status{}
	}
	status.Warnings = append(status.Warnings, more...)
	return status
}

// remove deletes a document, if its preconditions hold.
func (e *edge) remove(ctx context.Context, c *call) (answer, error) {
	asked, err := readPrecondition(c.header)
	if err != nil {
		return answer{}, err
	}
	old, err := e.find(ctx, c.path)
	if err != nil {
		return answer{}, err
	}
	if err := asked.check(c.path, old); err != nil {
		return answer{}, err
	}
	if old == nil {
		return answer{}, intent.ErrNotFound(c.path)
	}
	condition := intent.Always()
	if asked.asked() {
		condition = intent.IfRevision(old.Revision)
	}
	if err := e.Admitter.Delete(ctx, c.path, condition); err != nil {
		return answer{}, e.kept(ctx, err)
	}
	e.History.Wrote(ctx, old, nil)
	return answer{status: http.StatusNoContent}, nil
}
