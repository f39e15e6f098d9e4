package namehistory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/storetest"
)

// TestTheCostOfAChangeDoesNotGrow with the names of a project: the histories are read
// anew only when there is much to remove, and removed many at once.
func TestTheCostOfAChangeDoesNotGrow(t *testing.T) {
	const names = 3000
	w := newWorld(t)
	store := &storetest.Counted{Store: etcd.New(w.fake, etcd.WithClock(func() time.Time { return w.now }))}
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
	require.Less(t, store.Listed, 5*names, "documents read")
	require.Less(t, writes, names*11/10, "transactions")
}

// TestANewNameCostsOneRequest, and a name that comes back keeps what it had.
func TestANewNameCostsOneRequest(t *testing.T) {
	const names = 10
	w := newWorld(t)
	requests := 0
	w.fake.Before = func(string, string) error {
		requests++
		return nil
	}
	for n := range names {
		w.turn(fmt.Sprintf("m%d.shop.example", n), intent.CauseRelease, "a", time.Second)
	}
	w.Flush(t.Context())
	require.Equal(t, 1+names, requests, "the project, and each name")
	w.fake.Before = nil
	delete(w.published, "m0.shop.example")
	w.turn("m0.shop.example", intent.CauseRelease, "b", time.Hour)
	require.Len(t, w.told("m0.shop.example"), 2)
}
