package namehistory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
)

// counting counts the documents that lists answer.
type counting struct {
	intent.Store
	listed int
}

func (c *counting) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	page, err := c.Store.List(ctx, options)
	c.listed += len(page.Items)
	return page, err
}

// TestTheCostOfAChangeDoesNotGrow with the names of a project: the histories are read
// anew only when there is much to remove, and removed many at once.
func TestTheCostOfAChangeDoesNotGrow(t *testing.T) {
	const names = 3000
	w := newWorld(t)
	store := &counting{Store: etcd.New(w.fake, etcd.WithClock(func() time.Time { return w.now }))}
	w.Documents, w.Bytes = store, 200_000
	writes := 0
	w.fake.Before = func(op, _ string) error {
		if op == "txn" {
			writes++
		}
		return nil
	}
	for n := range names {
		w.turn(fmt.Sprintf("m%d.shop.example", n), intent.CauseRelease, "a", time.Second)
		if n%20 == 0 {
			w.Flush(t.Context())
		}
	}
	w.Flush(t.Context())
	w.fake.Before = nil
	require.Len(t, w.told("m2999.shop.example"), 1)
	require.Less(t, store.listed, 5*names, "documents read")
	require.Less(t, writes, names*11/10, "transactions")
}
