package state

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Events lists what happened to a group, oldest first.
func (s *Store) Events(ctx context.Context, group intent.Path) ([]intent.Event, error) {
	doc, err := s.Documents.Get(ctx, group)
	if err != nil {
		return nil, err
	}
	l, err := s.Lifecycle(ctx, group, doc.UID)
	return append([]intent.Event{}, l.Events...), err
}

// Outcomes of what an orchestrator asks for, beside those of all requests.
const (
	OutcomePrepared = "prepared" // a release was frozen for an app context
	OutcomeDropped  = "dropped"  // it went with the context
)
