package storetest

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Counted is a store that counts the documents that its lists answer.
type Counted struct {
	intent.Store

	Listed int
}

// List implements intent.Store.
func (c *Counted) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	page, err := c.Store.List(ctx, options)
	c.Listed += len(page.Items)
	return page, err
}
