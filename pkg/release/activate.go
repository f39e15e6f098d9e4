package release

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// PostEvent says that rsync has been told to instantiate, update or terminate
// an app context. It makes the release that was frozen for the context the
// group's, or has the group terminated.
func (s *Service) PostEvent(ctx context.Context, id string, event intent.Action) error {
	return &intent.Error{Code: intent.Unavailable, Detail: "not there yet"}
}

// TerminateContext has what belongs to an app context taken away: EMCO is about
// to uninstall it. It is idempotent.
func (s *Service) TerminateContext(ctx context.Context, id string) error {
	return &intent.Error{Code: intent.Unavailable, Detail: "not there yet"}
}
