package apps

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// KnownApp answers the app, which must be one of the group's; nil when it is not.
func KnownApp(ctx context.Context, a *review.Checker, r *review.Review, app string) (*intent.App, error) {
	path := r.Path.Parent().Parent()
	group, err := review.Find[intent.DeploymentIntentGroup](ctx, a.Store, path)
	switch {
	case err != nil:
		return nil, err
	case group == nil:
		return nil, intent.ErrNotFound(path)
	}
	names := make([]string, len(group.Apps))
	for i, known := range group.Apps {
		if names[i] = known.Name; known.Name == app {
			return &known, nil
		}
	}
	known := "which has no apps"
	if len(names) > 0 {
		known = "whose apps are: " + strings.Join(names, ", ")
	}
	r.Refusef(review.Spec+"/app", "%s is not an app of %s, %s", review.Quote(app), path, known)
	return nil, nil
}
