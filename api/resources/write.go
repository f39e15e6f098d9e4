package resources

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Tries is how often a write starts again when others change the document
// meanwhile.
const Tries = 10

// Create stores a new document in a collection.
func (h *Handlers) Create(ctx context.Context, c *operation.Call) (response.Answer, error) {
	path := Created(c.Path, c.Object)
	if old, err := h.Find(ctx, path); err != nil || old != nil {
		return response.Answer{}, cmp.Or(err, intent.ErrExists(path))
	}
	doc, err := h.store(ctx, path, c.Body, nil)
	if err != nil {
		return response.Answer{}, err
	}
	return h.stored(ctx, doc, http.StatusCreated)
}

// Created is the path of the document that a body creates in a collection.
func Created(collection intent.Path, object map[string]any) intent.Path {
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

// Put creates or replaces a document, if its preconditions hold.
func (h *Handlers) Put(ctx context.Context, c *operation.Call) (response.Answer, error) {
	asked, err := operation.ReadPrecondition(c.Header)
	if err != nil {
		return response.Answer{}, err
	}
	for range Tries {
		old, err := h.Find(ctx, c.Path)
		if err != nil {
			return response.Answer{}, err
		}
		if err := asked.Check(c.Path, old); err != nil {
			return response.Answer{}, err
		}
		doc, err := h.store(ctx, c.Path, c.Body, old)
		if err != nil {
			if h.Moved(ctx, c.Path, old, err) {
				continue
			}
			return response.Answer{}, err
		}
		if old == nil {
			return h.stored(ctx, doc, http.StatusCreated)
		}
		return h.stored(ctx, doc, http.StatusOK)
	}
	return response.Answer{}, &intent.Error{Code: intent.Unavailable, Detail: string(c.Path) + " is being changed by others; try again"}
}

// store admits, seals and stores a body that replaces old, nil for none.
func (h *Handlers) store(ctx context.Context, path intent.Path, body []byte, old *intent.Document) (intent.Document, error) {
	if h.NearlyFull() {
		return intent.Document{}, ErrNearlyFull()
	}
	write, err := h.Admitter.Admit(ctx, path, body, old)
	if err != nil {
		return intent.Document{}, err
	}
	for _, secret := range write.Secrets {
		id, err := h.Sealer.Store(ctx, path, secret.Field, secret.Value)
		if err != nil {
			return intent.Document{}, err
		}
		secret.Set(id)
	}
	doc, err := h.Admitter.Put(ctx, write)
	if err == nil {
		h.History.Wrote(ctx, old, &doc)
	}
	return doc, err
}

// ErrNearlyFull leaves what room there is to deletions, and to the work on what was
// accepted. Space that was freed comes back after minutes.
func ErrNearlyFull() error {
	const soon = 5 * time.Minute
	return &intent.Error{
		Code: intent.Unavailable, RetryAfter: soon,
		Detail: "the store is nearly full, and the document was not written: delete what is not needed, or have an operator enlarge the store",
	}
}

// Find answers the document at path, nil when there is none.
func (h *Handlers) Find(ctx context.Context, path intent.Path) (*intent.Document, error) {
	doc, err := h.Store.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil
	}
	return &doc, err
}

// Moved tells whether a write failed because the document is not what it was.
func (h *Handlers) Moved(ctx context.Context, path intent.Path, old *intent.Document, err error) bool {
	code := intent.CodeOf(err)
	if code != intent.PreconditionFailed && code != intent.Conflict {
		return false
	}
	now, err := h.Find(ctx, path)
	if err != nil {
		return false
	}
	if old == nil || now == nil {
		return (old == nil) != (now == nil)
	}
	return old.UID != now.UID || old.Revision != now.Revision
}

// stored answers a document that was just written.
func (h *Handlers) stored(ctx context.Context, doc intent.Document, status int) (response.Answer, error) {
	view, err := h.Admitter.View(ctx, doc)
	if err != nil {
		return response.Answer{}, err
	}
	header := http.Header{"Etag": {operation.ETag(doc.Revision)}}
	if status == http.StatusCreated {
		header.Set("Location", "/v2/"+string(doc.Path))
	}
	if isRecord(doc.Path) {
		known, err := h.Lifecycle.RecordStatus(ctx, doc.Path)
		if err != nil { // the write is done; a GET tells the rest
			h.Log.WarnContext(ctx, "no status of a record", slog.String("path", string(doc.Path)), slog.Any("error", err))
		}
		view.Status = merged(view.Status, known)
	}
	if intent.KindOf(doc.Path).One == "DNSIntent" {
		warnings, err := h.Lifecycle.NameWarnings(ctx, doc.Path)
		if err != nil { // the write is done; a plan tells the rest
			h.Log.WarnContext(ctx, "no warnings of names", slog.String("path", string(doc.Path)), slog.Any("error", err))
		}
		rest := func(text string) intent.Warning { return intent.Warning{Parameter: "hostnames", Message: text} }
		view.Status = warned(view.Status, response.Shorten(warnings, rest))
	}
	return response.Answer{Status: status, Header: header, Body: view}, nil
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

// Deletable is the document that a request deletes, if its preconditions hold. asked
// reports whether it has any.
func (h *Handlers) Deletable(ctx context.Context, c *operation.Call) (old *intent.Document, asked bool, err error) {
	condition, err := operation.ReadPrecondition(c.Header)
	if err != nil {
		return nil, false, err
	}
	if old, err = h.Find(ctx, c.Path); err != nil {
		return nil, false, err
	}
	if err := condition.Check(c.Path, old); err != nil {
		return nil, false, err
	}
	if old == nil {
		return nil, false, intent.ErrNotFound(c.Path)
	}
	return old, condition.Asked(), nil
}

// Delete deletes a document, if its preconditions hold.
func (h *Handlers) Delete(ctx context.Context, c *operation.Call) (response.Answer, error) {
	old, asked, err := h.Deletable(ctx, c)
	if err != nil {
		return response.Answer{}, err
	}
	condition := intent.Always()
	if asked {
		condition = intent.IfRevision(old.Revision)
	}
	if err := h.Admitter.Delete(ctx, c.Path, condition); err != nil {
		return response.Answer{}, h.inUseError(ctx, err)
	}
	h.History.Wrote(ctx, old, nil)
	return response.Answer{Status: http.StatusNoContent}, nil
}
