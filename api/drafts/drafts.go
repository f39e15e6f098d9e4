// Package drafts plans documents that are not stored, by the checks and plans of those
// that are.
package drafts

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Handlers answer plans of documents.
type Handlers struct {
	Draft func() service.Draft
	put   map[string]*operation.Operation // what puts a document, by its kind
}

// New makes Handlers that read each document as its PUT does.
func New(doc *openapi3.T, draft func() service.Draft) (Handlers, error) {
	h := Handlers{Draft: draft, put: map[string]*operation.Operation{}}
	for template, item := range doc.Paths.Map() {
		if item.Put == nil {
			continue
		}
		put, err := operation.New(doc, template, http.MethodPut, nil)
		if err != nil {
			return h, err
		}
		h.put[strings.TrimPrefix(put.ID, "put")] = put
	}
	return h, nil
}

// Plan answers what documents would do. If none of them would be refused, it plans the
// owners that they belong to.
func (h Handlers) Plan(ctx context.Context, c *operation.Call) (response.Answer, error) {
	var sent struct {
		Documents []map[string]json.RawMessage `json:"documents"`
		Deleted   []intent.Path                `json:"deleted"`
	}
	if err := json.Unmarshal(c.Body, &sent); err != nil {
		return response.Answer{}, review.ErrNoJSON(err)
	}
	j := &judge{Draft: h.Draft(), put: h.put, actor: c.Actor, was: map[intent.Path]*intent.Document{}, room: maxBytes}
	if err := j.documents(ctx, sent.Documents); err != nil {
		return response.Answer{}, err
	}
	if err := j.deletions(ctx, sent.Deleted); err != nil {
		return response.Answer{}, err
	}
	answer := intent.DraftPlan{Documents: []intent.DocumentChange{}, Owners: []intent.OwnerPlan{}, Errors: []intent.Field{}}
	for _, d := range j.drafted {
		answer.Documents = append(answer.Documents, intent.DocumentChange{Path: d.path, Action: d.action})
		answer.Errors = append(answer.Errors, d.faults...)
		answer.Changes = answer.Changes || d.action == created || d.action == updated || d.action == deleted
	}
	if len(answer.Errors) == 0 {
		owners, err := j.owners(ctx)
		if err != nil {
			return response.Answer{}, err
		}
		for _, owner := range owners {
			answer.Owners, answer.Changes = append(answer.Owners, owner), answer.Changes || owner.Changes
		}
	}
	rest := func(text string) intent.Field { return intent.Field{Detail: text} }
	answer.Errors = response.Shorten(answer.Errors, rest)
	return response.Answer{Status: http.StatusOK, Body: answer}, nil
}
