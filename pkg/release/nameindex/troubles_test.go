package nameindex

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// TestTroublesAreListedForWhomeverMayReadThem: conflicts, held removals and leftovers,
// page by page, until they end.
func TestTroublesAreListedForWhomeverMayReadThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		bread := w.published(nameOwner("bakery", "bread.example"), "bread", "bread.example")
		since := time.Now().UTC()
		require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), []ledger.Entry{
			{ID: endpointID(bread), Owners: []string{string(bread.Path)}, Status: ledger.Failed, Message: "another one is in its place", Since: since},
		}, nil))
		troubled := deployed()
		troubled.Leftovers = []intent.Leftover{{Name: "old.lab.example", Type: "A", Record: "lab", Reason: "policy"}}
		troubled.Retained = []state.RetainedNames{{Record: "projects/shop/dns-update-records/lab", Names: 7, Since: since}, {Record: "projects/shop/dns-update-records/other"}}
		w.put(groupOf(prod, "lab", nil, "www.lab.example"), troubled)
		synctest.Wait()
		id := endpointID(bread)
		conflict := intent.Trouble{Kind: intent.TroubleConflict, Project: "bakery", Owner: bread.Path, Cluster: id.Cluster, Object: "DNSEndpoint " + id.Namespace + "/" + id.Name, Message: "another one is in its place", Since: &since}
		held := intent.Trouble{Kind: intent.TroubleHeld, Project: "shop", Owner: prod, Record: "lab", Names: 7, Since: &since}
		leftover := intent.Trouble{Kind: intent.TroubleLeftover, Project: "shop", Owner: prod, Record: "lab", Name: "old.lab.example", Type: "A", Message: "policy"}

		all := intent.TroubleQuery{Limit: 2, Sees: func(string) bool { return true }}
		page, err := w.index.Troubles(all)
		require.NoError(t, err)
		require.Equal(t, []intent.Trouble{conflict, held}, page.Items)
		require.Equal(t, map[string]int{intent.TroubleConflict: 1, intent.TroubleHeld: 1, intent.TroubleLeftover: 1}, page.Counts)
		all.After = page.Continue
		page, err = w.index.Troubles(all)
		require.NoError(t, err)
		require.Equal(t, []intent.Trouble{leftover}, page.Items)
		require.Empty(t, page.Continue)

		page, err = w.index.Troubles(intent.TroubleQuery{Limit: 9, Sees: seesOnly("shop")})
		require.NoError(t, err)
		require.Equal(t, []intent.Trouble{held, leftover}, page.Items, "what another project has is not told")
		_, err = w.index.Troubles(intent.TroubleQuery{After: "%"})
		require.Equal(t, intent.Invalid, intent.CodeOf(err))

		w.apply(bread, 1, ledger.Applied)
		w.put(groupOf(prod, "lab", nil, "www.lab.example"), deployed())
		synctest.Wait()
		page, err = w.index.Troubles(intent.TroubleQuery{Limit: 9, Sees: all.Sees})
		require.NoError(t, err)
		require.Empty(t, page.Items)

		require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), []ledger.Entry{
			{ID: endpointID(bread), Owners: []string{string(bread.Path)}, Status: ledger.Retrying, Message: "no answer", Since: since},
		}, nil))
		synctest.Wait()
		page, err = w.index.Troubles(all)
		require.NoError(t, err)
		require.Equal(t, map[string]int{intent.TroublePending: 1}, page.Counts)
		require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), []ledger.Entry{
			{ID: endpointID(bread), Owners: []string{string(bread.Path)}, Going: true, Status: ledger.Retrying, Message: "no answer", Since: since},
		}, nil))
		synctest.Wait()
		page, err = w.index.Troubles(all)
		require.NoError(t, err)
		require.Empty(t, page.Counts, "it never came to be, and nobody wants it any more")
	})
}
