package release

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// UpdateContext freezes a release for an app context of EMCO's that is about to
// be installed: what a traffic group of the context's deployment intent group
// asks for there. The pod DNS intents are brought into the context; all else
// follows when the context becomes current. from is the context that this one
// replaces, empty for none. A failure leaves the context as it was.
func (s *Service) UpdateContext(ctx context.Context, id, traffic, from string) (warnings []string, err error) {
	return nil, &intent.Error{Code: intent.Unavailable, Detail: "not there yet"}
}
