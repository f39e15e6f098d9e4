// Package names answers the verbs on names: host names whose documents are published
// when they are accepted.
package names

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/signpost-dns/signpost/api/actions"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/resources"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Handlers answer the verbs.
type Handlers struct {
	*resources.Handlers
	Names service.Lifecycle
}

// view is a name as it is answered.
type view struct {
	Metadata intent.Metadata    `json:"metadata"`
	Spec     any                `json:"spec"`
	Status   *intent.NameReport `json:"status,omitempty"`
}

// Create publishes a new name.
func (h *Handlers) Create(ctx context.Context, c *operation.Call) (response.Answer, error) {
	path := resources.Created(c.Path, c.Object)
	ctx, end, err := h.Names.ReadAhead(ctx, path)
	defer end()
	if err != nil {
		return response.Answer{}, err
	}
	old, err := h.Find(ctx, path)
	if err == nil && old != nil {
		err = &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s exists already; change it by PUT /v2/%s", path, path)}
	}
	if err != nil {
		return response.Answer{}, err
	}
	return h.write(ctx, c, path, nil)
}

// Put publishes a name, or changes it, if its preconditions hold.
func (h *Handlers) Put(ctx context.Context, c *operation.Call) (response.Answer, error) {
	asked, err := operation.ReadPrecondition(c.Header)
	if err != nil {
		return response.Answer{}, err
	}
	for range resources.Tries {
		answer, old, err := h.tryPut(ctx, c, asked)
		if err != nil && h.Moved(ctx, c.Path, old, err) {
			continue
		}
		return answer, err
	}
	return response.Answer{}, &intent.Error{Code: intent.Unavailable, Detail: string(c.Path) + " is being changed by others; try again"}
}

// tryPut is one try of Put, and answers what it was to replace.
func (h *Handlers) tryPut(ctx context.Context, c *operation.Call, asked operation.Precondition) (answer response.Answer, old *intent.Document, err error) {
	ctx, end, err := h.Names.ReadAhead(ctx, c.Path)
	defer end()
	if err == nil {
		old, err = h.Find(ctx, c.Path)
	}
	if err == nil {
		err = asked.Check(c.Path, old)
	}
	if err != nil {
		return response.Answer{}, old, err
	}
	answer, err = h.write(ctx, c, c.Path, old)
	return answer, old, err
}

// write plans or publishes what a body asks for; old is what it replaces, nil for
// nothing.
func (h *Handlers) write(ctx context.Context, c *operation.Call, path intent.Path, old *intent.Document) (response.Answer, error) {
	if h.NearlyFull() {
		return response.Answer{}, resources.ErrNearlyFull()
	}
	limit, err := waitLimit(c)
	if err != nil {
		return response.Answer{}, err
	}
	admitted, err := h.Admitter.Admit(ctx, path, c.Body, old)
	if err != nil {
		return response.Answer{}, err
	}
	body, err := admitted.Body()
	if err != nil {
		return response.Answer{}, err
	}
	r, err := request(c, old, body)
	if err != nil {
		return response.Answer{}, err
	}
	if c.Query.Get("dryRun") == "true" {
		return actions.Planned(h.Names.PlanName(ctx, path, r))
	}
	published, err := h.Names.PublishName(ctx, path, r)
	if err != nil {
		return response.Answer{}, err
	}
	doc := published.Document
	if old == nil || old.Revision != doc.Revision {
		h.History.Wrote(ctx, old, &doc)
	}
	status := written(old)
	said := func(report intent.NameReport, status int) (response.Answer, error) {
		report.Changes, report.Warnings = changed(published.Changes), append(report.Warnings, published.Warnings...)
		return h.answer(ctx, doc, &report, status, old == nil)
	}
	until := c.Query.Get("wait")
	if until == "" {
		return said(h.report(ctx, path), status)
	}
	answer, err := said(h.report(ctx, path), http.StatusAccepted)
	answer.Await = func() response.Answer {
		report, missing := h.wait(ctx, path, until, limit)
		if !missing {
			if done, err := said(report, status); err == nil {
				return done
			}
		}
		if late, err := said(report, http.StatusAccepted); err == nil {
			return late
		}
		return answer
	}
	return answer, err
}

// written is the status of an answer about a document that replaces old, nil for nothing.
func written(old *intent.Document) int {
	if old == nil {
		return http.StatusCreated
	}
	return http.StatusOK
}

// report is what is known of a name that was just written.
func (h *Handlers) report(ctx context.Context, path intent.Path) intent.NameReport {
	report, err := h.Names.NameReport(ctx, path)
	if err != nil { // the write is done; a GET tells the rest
		h.Log.WarnContext(ctx, "no status of a name", slog.String("path", string(path)), slog.Any("error", err))
		return unknown(intent.Instantiating)
	}
	return report
}

// unknown is a report of a name of which nothing is known but its state.
func unknown(state intent.State) intent.NameReport {
	return intent.NameReport{State: state, Published: "Unknown", Verified: "Unknown", Records: []intent.NameStatus{}, Warnings: []string{}}
}

// changed are the changes that change something.
func changed(all []intent.NameChange) []intent.NameChange {
	var out []intent.NameChange
	for _, change := range all {
		if change.Action != "unchanged" {
			out = append(out, change)
		}
	}
	return out
}

func (h *Handlers) answer(ctx context.Context, doc intent.Document, report *intent.NameReport, status int, created bool) (response.Answer, error) {
	shown, err := h.Admitter.View(ctx, doc)
	if err != nil {
		return response.Answer{}, err
	}
	header := http.Header{"Etag": {operation.ETag(doc.Revision)}}
	if created {
		header.Set("Location", "/v2/"+string(doc.Path))
	}
	report.Records = actions.WholeNames(report.Records)
	return response.Answer{Status: status, Header: header, Body: view{Metadata: shown.Metadata, Spec: shown.Spec, Status: report}}, nil
}

// Get answers a name with what is known of it.
func (h *Handlers) Get(ctx context.Context, c *operation.Call) (response.Answer, error) {
	doc, err := h.Store.Get(ctx, c.Path)
	if err != nil {
		return response.Answer{}, err
	}
	report, err := h.Names.NameReport(ctx, c.Path)
	if err != nil {
		return response.Answer{}, err
	}
	return h.answer(ctx, doc, &report, http.StatusOK, false)
}

// Delete takes a name out of DNS and then deletes it, if its preconditions hold.
func (h *Handlers) Delete(ctx context.Context, c *operation.Call) (response.Answer, error) {
	old, asked, err := h.Deletable(ctx, c)
	if err != nil {
		return response.Answer{}, err
	}
	r := intent.NameRequest{Confirm: c.Query.Get("confirm"), Actor: c.Actor.Subject}
	if asked {
		r.Was = old
	}
	if c.Query.Get("dryRun") == "true" {
		return actions.Planned(h.Names.Plan(ctx, c.Path, intent.Terminate, 0))
	}
	if _, err := h.Names.UnpublishName(ctx, c.Path, r); err != nil {
		return response.Answer{}, err
	}
	h.History.Wrote(ctx, old, nil)
	report, err := h.Names.NameReport(ctx, c.Path)
	if intent.CodeOf(err) == intent.NotFound { // it was never published anywhere
		report, err = unknown(intent.Terminated), nil
	}
	if err != nil {
		return response.Answer{}, err
	}
	return h.answer(ctx, *old, &report, http.StatusAccepted, false)
}

// request is what a call asks for, with a body that was admitted; old is the document that it replaces, nil for none.
func request(c *operation.Call, old *intent.Document, body []byte) (intent.NameRequest, error) {
	restores, err := restored(c)
	return intent.NameRequest{
		Next: next(old, body, time.Now().UTC()), Was: old, Restores: restores,
		Takeover: c.Query.Get("takeover"), Confirm: c.Query.Get("confirm"), Actor: c.Actor.Subject,
	}, err
}

// restored is the release whose document the body is, as the caller says; 0 for none.
func restored(c *operation.Call) (int64, error) {
	if !c.Query.Has("restores") {
		return 0, nil
	}
	return strconv.ParseInt(c.Query.Get("restores"), 10, 64)
}

// LongestWait is how long a request may wait until a name is seen to be published.
const LongestWait = time.Minute

// waitLimit is how long a request waits; zero where it does not ask.
func waitLimit(c *operation.Call) (time.Duration, error) {
	if !c.Query.Has("wait") {
		if c.Query.Has("timeout") {
			return 0, &intent.Error{Code: intent.Invalid, Detail: "query parameter timeout is for wait; give both, or leave it out"}
		}
		return 0, nil
	}
	text := c.Query.Get("timeout")
	if text == "" {
		return LongestWait, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit < time.Second || limit > LongestWait {
		return 0, &intent.Error{Code: intent.Invalid, Detail: "query parameter timeout must be a duration from 1s to 60s, as in 30s"}
	}
	return limit, nil
}

// wait looks at a name until it is as the caller waits for, or the limit is over. It
// reports whether something is missing then.
func (h *Handlers) wait(ctx context.Context, path intent.Path, until string, limit time.Duration) (intent.NameReport, bool) {
	const turn = 200 * time.Millisecond
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		report := h.report(ctx, path)
		if report.Is(until) {
			return report, false
		}
		select {
		case <-ctx.Done():
			return report, true
		case <-deadline.C:
			return report, true
		case <-time.After(turn):
		}
	}
}

// next is the document of a name as a body makes it; old is what it replaces, nil
// for nothing. A body that says the same is the same document.
func next(old *intent.Document, body []byte, now time.Time) intent.NameDocument {
	now = now.Truncate(time.Millisecond)
	if old == nil {
		return intent.NameDocument{UID: rand.Text(), Revision: 1, CreatedAt: now, UpdatedAt: now, Body: body}
	}
	same := intent.NameDocument{UID: old.UID, Revision: old.Revision, CreatedAt: old.CreatedAt, UpdatedAt: old.UpdatedAt, Body: old.Body}
	if !bytes.Equal(old.Body, body) {
		same.Revision, same.UpdatedAt, same.Body = old.Revision+1, now, body
	}
	return same
}
