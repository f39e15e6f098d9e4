package admission

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// View answers a stored document as users see it. Errors: NotFound when the
// path is no resource's; one without a code when the body cannot be read; what
// the store answers.
func (a *Admitter) View(ctx context.Context, doc intent.Document) (review.View, error) {
	return view(ctx, a.Companions(), doc)
}

// Views is [Admitter.View] of several documents, in their order.
func (a *Admitter) Views(ctx context.Context, docs []intent.Document) ([]review.View, error) {
	views, g := make([]review.View, len(docs)), a.Companions()
	for i, doc := range docs {
		var err error
		if views[i], err = view(ctx, g, doc); err != nil {
			return nil, err
		}
	}
	return views, nil
}

func view(ctx context.Context, g *review.Companions, doc intent.Document) (review.View, error) {
	k, ok := checksOf(intent.KindOf(doc.Path))
	if !ok {
		return review.View{}, review.ErrNoResource(doc.Path)
	}
	return k.view(ctx, g, doc)
}
