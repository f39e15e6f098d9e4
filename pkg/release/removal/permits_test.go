package removal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestPermitsOfVeryManyNamesFit into transactions, of one group and of many.
func TestPermitsOfVeryManyNamesFit(t *testing.T) {
	t.Parallel()
	names := func(many int) (all []string) {
		for n := range many {
			all = append(all, fmt.Sprintf("n%05d.%s.lab.example", n, strings.Repeat("x", 40)))
		}
		return all
	}
	fake := kvtest.NewFake()
	s, lab := &Guard{Store: &state.Store{KV: fake}}, intent.Path("projects/shop/dns-update-records/lab")
	for n := range 6 {
		require.NoError(t, s.Permit(t.Context(), lab, map[intent.Path]guard.Permit{"projects/shop/large": {For: fmt.Sprint(n), Names: names(10_000)}}))
	}
	all := map[intent.Path]guard.Permit{}
	for n := range 2 * kv.MaxOps {
		all[intent.Path(fmt.Sprintf("projects/shop/names/n%d", n))] = guard.Permit{For: "1", Names: names(200)}
	}
	require.NoError(t, s.Permit(t.Context(), lab, all))
	items, _, err := fake.Range(t.Context(), kv.Range{Prefix: allPermits, KeysOnly: true})
	require.NoError(t, err)
	require.Len(t, items, len(all)+1)
}
