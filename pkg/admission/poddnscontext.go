package admission

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// PreviewPodDNS answers the question that a body asks about pods of a deployment intent group;
// path is where it was asked. Absent fields follow from the app, its clusters, the logical cloud
// and its DNS CR intents. Errors: NotFound when the parents of the path do not exist; Invalid
// with every wrong field; the errors of the store.
func (a *Admitter) PreviewPodDNS(ctx context.Context, path intent.Path, body []byte) (resolvconf.Preview, error) {
	if err := parents(ctx, a.Checker, path); err != nil {
		return resolvconf.Preview{}, err
	}
	p, err := poddns.ReadPodDNSPreview(body)
	if err != nil {
		return resolvconf.Preview{}, err
	}
	p.Review.Path = path
	if err := poddns.CompletePreview(ctx, a.Checker, p); err != nil {
		return resolvconf.Preview{}, err
	}
	return p.Answer()
}
