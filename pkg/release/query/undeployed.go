package query

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Undeployed returns the documents that differ from the release of a snapshot, ordered by
// path. It returns none if nothing is deployed. It also returns none for names, which are
// released as they are written, and for documents and apps of an orchestrator.
func (s *Reader) Undeployed(ctx context.Context, snap *Snapshot) ([]intent.UndeployedDocument, error) {
	owner := intent.Path(snap.Owner)
	orchestrated := snap.Lifecycle.Orchestrated() || s.Inputs.ExternallyManaged != nil && s.Inputs.ExternallyManaged(owner) != nil
	if !snap.Lifecycle.Deployed() || orchestrated || intent.IsName(owner) {
		return nil, nil
	}
	return state.RetryOnConflict(owner, func() ([]intent.UndeployedDocument, error) {
		return s.Inputs.Undeployed(ctx, owner, snap.Inputs, snap.Group.Project.Namespace)
	})
}

// undeployedRecord returns a provider that differs from what is deployed of it.
func undeployedRecord(doc intent.Document, l state.RecordLifecycle) ([]intent.UndeployedDocument, error) {
	same, err := l.Deploys(doc)
	if err != nil || same || !l.Deployed {
		return nil, err
	}
	return []intent.UndeployedDocument{{Path: doc.Path, Change: intent.InputChanged, Revision: l.Record.Revision, Current: doc.Revision}}, nil
}
