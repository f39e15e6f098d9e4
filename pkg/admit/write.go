package admit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Write is a document that may be stored. Seal each of Secrets and Set its id,
// then hand the Write to [Admitter.Put].
type Write struct {
	Path    intent.Path
	Refs    []intent.Path // the documents that it needs, parent and sealed values included
	Secrets []Secret      // values that must be sealed first

	// Condition is the state of the store that was judged: absent, or the old
	// document's revision. When it no longer holds, admit the body again.
	Condition intent.Condition

	metadata intent.Metadata
	spec     any
	claim    *claim
}

// Secret is a value to seal before its document is stored.
type Secret struct {
	// Field names the value within its document. It stays the same when lists
	// are reordered, so it may be bound to the seal: "/spec/kubeconfig",
	// "/spec/credentials/environment ETCD_PASSWORD".
	Field string
	// Value is the plain value.
	Value []byte
	// Set puts the sealed value's id in the value's place, and the document
	// intent.SecretCollection/id among the Write's Refs.
	Set func(id string)
}

// Body is the JSON to store: canonical, without secret values.
func (w *Write) Body() ([]byte, error) {
	return json.Marshal(intent.Resource[any]{Metadata: w.metadata, Spec: w.spec})
}

// Put stores an admitted document and answers it. For a project it reserves
// the namespace first, so that no two projects ever have the same one, and for
// a cluster what its kubeconfig leads to.
// Errors: those of Store.Put, with NotFound instead of a Conflict when a
// parent has gone meanwhile; Conflict when a namespace was taken meanwhile,
// and those of [Rules].Claim.
func (a *Admitter) Put(ctx context.Context, w *Write) (intent.Document, error) {
	if err := a.claimCluster(ctx, w); err != nil {
		return intent.Document{}, err
	}
	refs := slices.Clone(w.Refs)
	var reserved intent.Path
	if w.claim != nil {
		var err error
		if reserved, err = a.reserve(ctx, w.claim); err != nil {
			return intent.Document{}, err
		}
		refs = append(refs, reserved)
	}
	body, err := w.Body()
	if err != nil {
		return intent.Document{}, err
	}
	doc, err := a.store.Put(ctx, intent.Write{Path: w.Path, Refs: refs, Body: body, Condition: w.Condition})
	if err != nil {
		return intent.Document{}, errors.Join(putError(w.Path, err), a.release(ctx, reserved))
	}
	if w.claim != nil {
		return doc, a.release(ctx, w.claim.previous)
	}
	return doc, nil
}

// Delete removes a document, and with a project the reservation of its
// namespace. Errors: those of Store.Delete; Forbidden for a project with bounds
// that the caller may not lift.
func (a *Admitter) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	var reserved intent.Path
	if shape(path) == "projects" {
		doc, err := a.store.Get(ctx, path)
		if err != nil {
			return err
		}
		if err := condition.Check(path, doc.Revision); err != nil {
			return err
		}
		if err := unbound(ctx, doc); err != nil {
			return err
		}
		if intent.By(ctx).Confined {
			condition = intent.IfRevision(doc.Revision) // bounds that come meanwhile count
		}
		reserved = reservation(doc.Refs)
	}
	if err := a.store.Delete(ctx, path, condition); err != nil {
		return err
	}
	return a.release(ctx, reserved)
}

// putError tells a parent and a namespace that went meanwhile from other
// missing references.
func putError(path intent.Path, err error) error {
	var missing *intent.MissingReference
	switch {
	case !errors.As(err, &missing):
		return err
	case missing.To == path.Parent():
		return intent.ErrNotFound(missing.To)
	case missing.To.Collection() == intent.NamespaceCollection:
		return &intent.Error{
			Code: intent.Conflict, Detail: string(path) + " cannot be stored",
			Fields: []intent.Field{{Pointer: "/spec/namespace", Detail: "was taken by another project meanwhile; choose another, or try again"}},
		}
	}
	return err
}
