package admit

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// compositeApp admits one version of a composite app. The version is the
// second part of its name.
func (a *Admitter) compositeApp(_ context.Context, r *review, in, _ *intent.CompositeApp) error {
	const at = spec + "/compositeAppVersion"
	_, version, _ := strings.Cut(r.path.Name(), "/")
	switch {
	case !isLabelValue(in.CompositeAppVersion):
		r.refusef(at, "%s is no version; %s", quote(in.CompositeAppVersion), valueAdvice)
	case in.CompositeAppVersion != version:
		r.refusef(at, "is %s, but the path names %s", quote(in.CompositeAppVersion), quote(version))
	}
	return nil
}
