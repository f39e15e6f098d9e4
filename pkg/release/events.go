package release

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Events lists what happened to a group, oldest first.
func (s *Service) Events(ctx context.Context, group intent.Path) ([]intent.Event, error) {
	doc, err := s.Documents.Get(ctx, group)
	if err != nil {
		return nil, err
	}
	l, err := s.lifecycle(ctx, group, doc.UID)
	return append([]intent.Event{}, l.Events...), err
}
