package resources

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// List answers a page of a collection; 404 when what it belongs to does not
// exist.
func (h *Handlers) List(ctx context.Context, c *operation.Call) (response.Answer, error) {
	stored, err := h.page(ctx, c)
	if err != nil {
		return response.Answer{}, err
	}
	views, err := h.Admitter.Views(ctx, stored.Items)
	if err != nil {
		return response.Answer{}, err
	}
	for i, doc := range stored.Items {
		if views[i].Status, err = h.documentStatus(ctx, doc.Path, views[i].Status); err != nil {
			return response.Answer{}, err
		}
	}
	return response.Answer{Status: http.StatusOK, Body: response.Page{Items: views, Continue: stored.Continue}}, nil
}

// page reads the documents of a page.
func (h *Handlers) page(ctx context.Context, c *operation.Call) (intent.Page, error) {
	parent := c.Owner()
	if intent.IsDefaultTrafficGroup(parent) { // which is made with its first intent
		parent = parent.Parent()
	}
	if parent != "" {
		if _, err := h.Store.Get(ctx, parent); err != nil {
			return intent.Page{}, err
		}
	}
	stored, err := h.Store.List(ctx, intent.ListOptions{
		Collection: string(c.Path),
		NamePrefix: c.Query.Get("namePrefix"),
		Limit:      c.Limit(),
		Bytes:      intent.PageBytes,
		Continue:   c.Query.Get("continue"),
	})
	return stored, operation.ContinueError(err)
}

// documentStatus is a document's status: what it tells by itself, and what is known
// beyond it.
func (h *Handlers) documentStatus(ctx context.Context, path intent.Path, own *review.Status) (*review.Status, error) {
	switch {
	case isRecord(path):
		return h.recordView(ctx, path, own)
	case intent.KindOf(path).One == "Cluster":
		return h.clusterView(ctx, path, own)
	}
	return own, nil
}

// recordView is a record's status. A record that is deleted meanwhile has no
// more than its document tells.
func (h *Handlers) recordView(ctx context.Context, path intent.Path, own *review.Status) (*review.Status, error) {
	status, err := h.Lifecycle.RecordStatus(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return own, nil
	}
	return merged(own, status), err
}

// clusterView is a cluster's status, nil when there is nothing to say.
func (h *Handlers) clusterView(ctx context.Context, path intent.Path, own *review.Status) (*review.Status, error) {
	drained, err := h.Clusters.Drained(ctx, path)
	if err != nil {
		return nil, err
	}
	abandoned, err := h.Clusters.Abandoned(ctx, path)
	if err != nil || drained == nil && abandoned == nil {
		return own, err
	}
	status := *cmp.Or(own, &review.Status{Warnings: []intent.Warning{}})
	status.Drained, status.Abandoned = drained, abandoned
	return &status, nil
}

// Get answers a document, or one value of it.
func (h *Handlers) Get(ctx context.Context, c *operation.Call) (response.Answer, error) {
	doc, err := h.Store.Get(ctx, c.Path)
	if err != nil {
		return response.Answer{}, err
	}
	header := http.Header{"Etag": {operation.ETag(doc.Revision)}}
	if key := c.Query.Get("key"); key != "" {
		value, err := valueOf(doc, key)
		return response.Answer{Status: http.StatusOK, Header: header, Body: map[string]any{"value": value}}, err
	}
	view, err := h.Admitter.View(ctx, doc)
	if err != nil {
		return response.Answer{}, err
	}
	view.Status, err = h.documentStatus(ctx, doc.Path, view.Status)
	return response.Answer{Status: http.StatusOK, Header: header, Body: view}, err
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
