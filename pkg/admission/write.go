package admission

import (
	"context"
	"errors"
	"slices"

	"github.com/signpost-dns/signpost/pkg/admission/clusters"
	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Put stores an admitted document and answers it. For a project it first reserves the
// namespace, so that no two projects ever have the same one. For a cluster it first
// claims the cluster behind its kubeconfig. For an intent in the default traffic group it
// makes the traffic group, if there is none. Errors are those of Store.Put, with NotFound
// instead of a Conflict when a parent has gone meanwhile. A Conflict comes when a
// namespace was taken meanwhile. Errors of [Rules].Claim come, too.
func (a *Admitter) Put(ctx context.Context, w *review.Write) (intent.Document, error) {
	if err := clusters.ClaimCluster(ctx, a.Checker, w); err != nil {
		return intent.Document{}, err
	}
	refs := slices.Clone(w.Refs)
	var reserved intent.Path
	if w.Claim != nil {
		var err error
		if reserved, err = projects.Reserve(ctx, a.Checker, w.Claim); err != nil {
			return intent.Document{}, err
		}
		refs = append(refs, reserved)
	}
	body, err := w.Body()
	if err != nil {
		return intent.Document{}, err
	}
	doc, err := a.store(ctx, intent.Write{Path: w.Path, Refs: refs, Body: body, Condition: w.Condition})
	if err != nil {
		return intent.Document{}, errors.Join(putError(w.Path, err), projects.ReleaseReservation(ctx, a.Checker, reserved))
	}
	if w.Claim != nil {
		return doc, projects.ReleaseReservation(ctx, a.Checker, w.Claim.Previous)
	}
	return doc, nil
}

// Delete removes a document, and with a project the reservation of its namespace. An
// empty default traffic group that was made goes with its deployment intent group. Errors: those of Store.Delete; Forbidden for a project with bounds
// that the caller may not lift.
func (a *Admitter) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	var reserved intent.Path
	if intent.KindOf(path).One == "Project" {
		doc, err := a.Store.Get(ctx, path)
		if err != nil {
			return err
		}
		if err := condition.Check(path, doc.Revision); err != nil {
			return err
		}
		if err := projects.Unbound(ctx, doc); err != nil {
			return err
		}
		if intent.By(ctx).Confined {
			condition = intent.IfRevision(doc.Revision) // bounds that come meanwhile count
		}
		reserved = projects.Reservation(doc.Refs)
	}
	if err := a.remove(ctx, path, condition); err != nil {
		return err
	}
	return projects.ReleaseReservation(ctx, a.Checker, reserved)
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
