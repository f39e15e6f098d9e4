package nameclaim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

func inPublic(name string) nameclaim.Key { return nameclaim.Key{View: "public", Name: name} }

func TestNamesAbove(t *testing.T) {
	require.Equal(t, []nameclaim.Key{inPublic("www.lab.example"), inPublic("lab.example"), inPublic("example")}, inPublic("x.www.lab.example").Above())
	require.Empty(t, inPublic("example").Above())
}

// plant has names be claimed as keys of an etcd.
func plant(t *testing.T, store nameclaim.Store, keys []nameclaim.Key) error {
	t.Helper()
	changes := make([]nameclaim.Change, len(keys))
	for n, key := range keys {
		changes[n] = nameclaim.Change{Key: key, Claim: nameclaim.Claim{Project: "shop", Entries: []nameclaim.Entry{{UID: "1", Trees: []string{"/skydns/"}}}}}
	}
	return store.Write(t.Context(), changes)
}

// TestBelow compares the tree with what the names say, where they are few and where
// they are more than a page.
func TestBelow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // cases
	for _, size := range []int{0, 3, 40, 900} {
		fake := kvtest.NewFake()
		store := nameclaim.Store{KV: fake}
		var all []nameclaim.Key
		for range size {
			labels := []string{"example"}
			for range random.IntN(4) {
				labels = append(labels, []string{"a", "b", "ab", "*", "a-b", "_x", "n%2F", fmt.Sprint(random.IntN(99))}[random.IntN(8)])
			}
			slices.Reverse(labels)
			if next := inPublic(strings.Join(labels, ".")); !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
		require.NoError(t, plant(t, store, all))
		require.NoError(t, plant(t, store, []nameclaim.Key{{View: "public-2", Name: "a.example"}}))
		asked := append(slices.Clone(all), inPublic("c.example"), inPublic("xample"), inPublic("example"), inPublic("zz"))
		below, err := store.Below(t.Context(), asked)
		require.NoError(t, err)
		require.Empty(t, below.Many)
		for _, upper := range asked {
			var want []nameclaim.Key
			for _, lower := range all {
				if strings.HasSuffix(lower.Name, "."+upper.Name) {
					want = append(want, lower)
				}
			}
			require.ElementsMatch(t, want, below.Names[upper], upper)
		}
	}
}

// TestTheTreeFollowsTheClaims: what is claimed comes, and what is nobody's goes.
func TestTheTreeFollowsTheClaims(t *testing.T) {
	t.Parallel()
	store := nameclaim.Store{KV: kvtest.NewFake()}
	lower, other := inPublic("x.www.example"), inPublic("y.www.example")
	claim := nameclaim.Claim{Project: "shop", Entries: []nameclaim.Entry{{UID: "1"}}}
	require.NoError(t, plant(t, store, []nameclaim.Key{lower}))
	require.NoError(t, store.Write(t.Context(), []nameclaim.Change{{Key: other, Claim: claim}}))
	seen := func() []nameclaim.Key {
		below, err := store.Below(t.Context(), []nameclaim.Key{inPublic("www.example")})
		require.NoError(t, err)
		return below.Names[inPublic("www.example")]
	}
	require.Equal(t, []nameclaim.Key{lower}, seen(), "the other one's provider answers each name by itself")
	claims, err := store.Read(t.Context(), []nameclaim.Key{lower})
	require.NoError(t, err)
	require.NoError(t, store.Write(t.Context(), []nameclaim.Change{{Key: lower, Claim: claims[lower].Without(func(nameclaim.Entry) bool { return true })}}))
	require.Empty(t, seen())
}

// TestBelowReadsNoMoreThanItHasTo: a page for each name at most, beside what lies
// below it, and one for many names that are alone.
func TestBelowReadsNoMoreThanItHasTo(t *testing.T) {
	t.Parallel()
	fake := kvtest.NewFake()
	store := nameclaim.Store{KV: fake}
	var others, mine []nameclaim.Key
	for n := range 5000 {
		others = append(others, inPublic(fmt.Sprintf("n%04d.busy.example", n)))
		mine = append(mine, inPublic(fmt.Sprintf("n%04d.quiet.example", n)))
	}
	require.NoError(t, plant(t, store, others))
	reads := 0
	fake.Before = func(op, _ string) error {
		if op == "range" {
			reads++
		}
		return nil
	}
	_, err := store.Below(t.Context(), mine)
	require.NoError(t, err)
	require.Equal(t, 1, reads)
	_, err = store.Below(t.Context(), []nameclaim.Key{others[0], others[1], others[4999]})
	require.NoError(t, err)
	require.Equal(t, 3, reads)
	below, err := store.Below(t.Context(), []nameclaim.Key{inPublic("example")})
	require.NoError(t, err)
	require.Empty(t, below.Many)
	require.Len(t, below.Names[inPublic("example")], 5000)
}

// TestAClaimIsWrittenIfNoRelativeHasCome since the tree was read: a name above, below, or
// the name itself.
func TestAClaimIsWrittenIfNoRelativeHasCome(t *testing.T) {
	t.Parallel()
	for relative, written := range map[string]bool{
		"": true, "b.www.example": false, "example": false, "www.example": false, "wwww.example": true, "other.example": true,
	} {
		store := nameclaim.Store{KV: kvtest.NewFake()}
		require.NoError(t, plant(t, store, []nameclaim.Key{inPublic("before.example")}))
		asked := []nameclaim.Key{inPublic("www.example")}
		below, err := store.Below(t.Context(), asked)
		require.NoError(t, err)
		if relative != "" {
			require.NoError(t, plant(t, store, []nameclaim.Key{inPublic(relative)}))
		}
		claim := nameclaim.Claim{Project: "shop", Entries: []nameclaim.Entry{{UID: "1", Trees: []string{"/"}}}}
		done, err := store.WriteIf(t.Context(), []nameclaim.Change{{Key: asked[0], Claim: claim}}, nameclaim.Unrelated(asked, below.Revision)...)
		require.NoError(t, err)
		require.Equal(t, written, done, relative)
	}
}
