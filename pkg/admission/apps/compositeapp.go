package apps

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckCompositeApp admits one version of a composite app. The version is the
// second part of its name.
func CheckCompositeApp(_ context.Context, a *review.Checker, r *review.Review, in, _ *intent.CompositeApp) error {
	const at = review.Spec + "/compositeAppVersion"
	_, version, _ := strings.Cut(r.Path.Name(), "/")
	switch {
	case !review.IsLabelValue(in.CompositeAppVersion):
		r.Refusef(at, "%s is not a version; %s", review.Quote(in.CompositeAppVersion), review.ValueAdvice)
	case in.CompositeAppVersion != version:
		r.Refusef(at, "is %s, but the path names %s", review.Quote(in.CompositeAppVersion), review.Quote(version))
	}
	return nil
}
