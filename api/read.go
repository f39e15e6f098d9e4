package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// defaultLimit is how many items a page holds when the request does not say.
const defaultLimit = 500

// page is a list as it is answered.
type page struct {
	Items    []review.View `json:"items"`
	Continue string        `json:"continue,omitempty"`
}

// list answers a page of a collection; 404 when what it belongs to does not
// exist.
func (e *edge) list(r resource) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		stored, err := e.page(ctx, c)
		if err != nil {
			return answer{}, err
		}
		views, err := e.Admitter.Views(ctx, stored.Items)
		if err != nil {
			return answer{}, err
		}
		for i, doc := range stored.Items {
			if views[i].Status, err = e.documentStatus(ctx, r, doc.Path, views[i].Status); err != nil {
				return answer{}, err
			}
		}
		return answer{status: http.StatusOK, body: page{Items: views, Continue: stored.Continue}}, nil
	}
}

// page reads the documents of a page.
func (e *edge) page(ctx context.Context, c *call) (intent.Page, error) {
	if parent := c.owner(); parent != "" {
		if _, err := e.Store.Get(ctx, parent); err != nil {
			return intent.Page{}, err
		}
	}
	stored, err := e.Store.List(ctx, intent.ListOptions{
		Collection: string(c.path),
		NamePrefix: c.query.Get("namePrefix"),
		Limit:      c.limit(),
		Bytes:      intent.PageBytes,
		Continue:   c.query.Get("continue"),
	})
	return stored, wrongContinue(err)
}

// limit is how many items a page may hold.
func (c *call) limit() int {
	if limit, err := strconv.Atoi(c.query.Get("limit")); err == nil { // judged by its schema
		return limit
	}
	return defaultLimit
}

// wrongContinue says what is wrong with a request whose page cannot be found.
func wrongContinue(err error) error {
	if intent.CodeOf(err) == intent.Invalid {
		return &intent.Error{Code: intent.Invalid, Detail: "query parameter continue must be the continue of the last page of this list", Err: err}
	}
	return err
}

// documentStatus is a document's status: what it tells by itself, and what is known
// beyond it.
func (e *edge) documentStatus(ctx context.Context, r resource, path intent.Path, own *review.Status) (*review.Status, error) {
	switch {
	case r.record:
		return e.recordView(ctx, path, own)
	case r.cluster:
		return e.clusterView(ctx, path)
	}
	return own, nil
}

// recordView is a record's status. A record that is deleted meanwhile has no
// more than its document tells.
func (e *edge) recordView(ctx context.Context, path intent.Path, own *review.Status) (*review.Status, error) {
	status, err := e.Lifecycle.RecordStatus(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return own, nil
	}
	return merged(own, status), err
}

// clusterView is a cluster's status, nil when there is nothing to say.
func (e *edge) clusterView(ctx context.Context, path intent.Path) (*review.Status, error) {
	drained, err := e.Clusters.Drained(ctx, path)
	if err != nil {
		return nil, err
	}
	abandoned, err := e.Clusters.Abandoned(ctx, path)
	if err != nil || drained == nil && abandoned == nil {
		return nil, err
	}
	return &review.Status{Warnings: []intent.Warning{}, Drained: drained, Abandoned: abandoned}, nil
}

// get answers a document, or one value of it.
func (e *edge) get(r resource) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		doc, err := e.Store.Get(ctx, c.path)
		if err != nil {
			return answer{}, err
		}
		header := http.Header{"Etag": {etag(doc.Revision)}}
		if key := c.query.Get("key"); r.pairs && key != "" {
			value, err := valueOf(doc, key)
			return answer{status: http.StatusOK, header: header, body: map[string]any{"value": value}}, err
		}
		view, err := e.Admitter.View(ctx, doc)
		if err != nil {
			return answer{}, err
		}
		view.Status, err = e.documentStatus(ctx, r, doc.Path, view.Status)
		return answer{status: http.StatusOK, header: header, body: view}, err
	}
}

// valueOf is the value of a key of a KV document.
func valueOf(doc intent.Document, key string) (json.RawMessage, error) {
	pairs, err := intent.Of[intent.KVPairs](doc)
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs.Spec.KV {
		if value, ok := pair[key]; ok {
			return value, nil
		}
	}
	return nil, &intent.Error{Code: intent.NotFound, Detail: string(doc.Path) + " has no key " + strconv.Quote(jsonbody.Clip(key))}
}

// merged is a record's status: what the document tells by itself and what is
// known of its deployments.
func merged(own *review.Status, known intent.RecordStatus) *review.Status {
	return &review.Status{
		Warnings: append(own.Warnings, known.Warnings...), Home: known.Home, OwnerID: known.OwnerID, Version: known.Version, Deployments: known.Deployments,
	}
}
