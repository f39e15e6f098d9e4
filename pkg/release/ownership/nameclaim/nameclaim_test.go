package nameclaim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

var (
	key   = nameclaim.Key{View: "public", Name: "www.lab.example"}
	noon  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	gives = func(nameclaim.Key) bool { return true }
	lacks = func(nameclaim.Key) bool { return false }
)

// TestWhoHolds: pending entries hold while their acceptance may be under way or
// has been; confirmed ones until their group is at rest without the name.
func TestWhoHolds(t *testing.T) {
	pending := nameclaim.Entry{UID: "u", Context: "c2", Over: 7, Since: noon}
	confirmed := nameclaim.Entry{UID: "u", Context: "c1", Confirmed: true}
	for _, c := range []struct {
		what  string
		entry nameclaim.Entry
		is    nameclaim.GroupState
		after time.Duration
		held  bool
	}{
		{"under way", pending, nameclaim.GroupState{Revision: 7}, 59 * time.Second, true},
		{"for too long", pending, nameclaim.GroupState{Revision: 7}, time.Minute, false},
		{"by a clock that is somewhat ahead", pending, nameclaim.GroupState{Revision: 7}, -59 * time.Second, true},
		{"by a clock that is far ahead", pending, nameclaim.GroupState{Revision: 7}, -time.Minute, false},
		{"accepted by a clock that is far ahead", pending, nameclaim.GroupState{Revision: 8, Context: "c2"}, -time.Hour, true},
		{"accepted", pending, nameclaim.GroupState{Revision: 8, Context: "c2"}, time.Hour, true},
		{"another was accepted", pending, nameclaim.GroupState{Revision: 8, Context: "c3"}, 0, false},
		{"it is current", confirmed, nameclaim.GroupState{UID: "u", Context: "c1"}, time.Hour, true},
		{"the next release gives it, too", confirmed, nameclaim.GroupState{UID: "u", Context: "c2", Resting: true, Gives: gives}, time.Hour, true},
		{"the next release does not", confirmed, nameclaim.GroupState{UID: "u", Context: "c2", Resting: true, Gives: lacks}, 0, false},
		{"but it has not settled", confirmed, nameclaim.GroupState{UID: "u", Context: "c2", Gives: lacks}, time.Hour, true},
		{"terminated", confirmed, nameclaim.GroupState{UID: "u", Resting: true}, 0, false},
		{"terminating", confirmed, nameclaim.GroupState{UID: "u"}, time.Hour, true},
		{"yielded", confirmed, nameclaim.GroupState{UID: "u", Context: "c1", Resting: true, Gives: lacks}, 0, false},
		{"another life", confirmed, nameclaim.GroupState{UID: "v", Context: "c9", Resting: true, Gives: gives}, 0, false},
		{"another life, with names of the last one to free", confirmed, nameclaim.GroupState{UID: "v", Context: "c9", Gives: gives}, time.Hour, true},
	} {
		require.Equal(t, c.held, c.entry.Held(key, c.is, noon.Add(c.after)), c.what)
	}
}

// drawnClaim is a claim of groups of a project; which of them are held is drawn.
func drawnClaim(t *rapid.T) (nameclaim.Claim, func(nameclaim.Entry) (bool, error)) {
	c := nameclaim.Claim{Project: rapid.SampledFrom([]string{"shop", "bank"}).Draw(t, "project")}
	live := map[string]bool{}
	for n := range rapid.IntRange(0, 5).Draw(t, "entries") {
		e := nameclaim.Entry{
			Group: intent.Path(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")), Context: fmt.Sprint(n),
			Confirmed: rapid.Bool().Draw(t, "confirmed"), Types: rapid.SampledFrom([][]string{nil, {"A"}, {"CNAME"}}).Draw(t, "types"),
		}
		live[e.Context] = rapid.Bool().Draw(t, "held")
		c.Entries = append(c.Entries, e)
	}
	return c, func(e nameclaim.Entry) (bool, error) { return live[e.Context], nil }
}

// TestABidTakesFromNobodyWhoHolds, whatever stands in a claim: it is granted if
// and only if no other project holds the name and no other group clashes; then
// all who hold it are still in it, nobody else, and the bidder.
func TestABidTakesFromNobodyWhoHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, held := drawnClaim(t)
		mine := nameclaim.Entry{Group: "a", Context: "mine", Types: rapid.SampledFrom([][]string{nil, {"CNAME"}}).Draw(t, "mine")}
		var stay []nameclaim.Entry
		want := nameclaim.Granted
		for _, e := range c.Entries {
			if is, _ := held(e); !is {
				continue
			}
			stay = append(stay, e)
			switch {
			case want != nameclaim.Granted:
			case c.Project != "shop":
				want = nameclaim.Taken
			case e.Group != "a" && e.Clashes(mine):
				want = nameclaim.Clash
			}
		}
		before := slices.Clone(c.Entries)
		next, verdict, _, err := c.Request("shop", mine, held)
		require.NoError(t, err)
		require.Equal(t, want, verdict)
		require.Equal(t, before, c.Entries, "a bid changes nothing")
		if verdict != nameclaim.Granted {
			return
		}
		require.Equal(t, append(stay, mine), next.Entries)
		confirmed, ok := next.Confirm("shop", "a", "mine")
		require.True(t, ok)
		is, ok := confirmed.Confirmed("shop", "a")
		require.True(t, ok)
		require.Equal(t, "mine", is.Context)
		_, ok = confirmed.Confirmed("bank", "a")
		require.False(t, ok)
		_, ok = confirmed.Confirm("shop", "a", "other")
		require.False(t, ok, "what is not pending cannot be confirmed")
	})
}

// TestOfTwoWritersOneWins: what was read has to be what is there.
func TestOfTwoWritersOneWins(t *testing.T) {
	s := nameclaim.Store{KV: kvtest.NewFake()}
	var keys []nameclaim.Key
	for n := range 300 {
		keys = append(keys, nameclaim.Key{View: "public", Name: fmt.Sprintf("n%d.lab.example", n)})
	}
	bid := func(project string) []nameclaim.Change {
		claims, err := s.Read(t.Context(), keys)
		require.NoError(t, err)
		var changes []nameclaim.Change
		for _, k := range keys {
			next, _, _, err := claims[k].Request(project, nameclaim.Entry{Group: intent.Path(project)}, func(nameclaim.Entry) (bool, error) { return true, nil })
			require.NoError(t, err)
			changes = append(changes, nameclaim.Change{Key: k, Claim: next})
		}
		return changes
	}
	shop, bank := bid("shop"), bid("bank")
	require.NoError(t, s.Write(t.Context(), shop))
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(s.Write(t.Context(), bank)))
	claims, err := s.Read(t.Context(), keys)
	require.NoError(t, err)
	require.Len(t, claims, 300)
	for k, claim := range claims {
		require.Equal(t, "shop", claim.Project, k)
	}
	gone := shop[:0]
	for k, claim := range claims {
		gone = append(gone, nameclaim.Change{Key: k, Claim: claim.Without(func(nameclaim.Entry) bool { return true })})
	}
	require.NoError(t, s.Write(t.Context(), gone))
	claims, err = s.Read(t.Context(), keys)
	require.NoError(t, err)
	require.Empty(t, claims)
}

// TestClaimsAreReadInParts, each once, whatever their keys look like.
func TestClaimsAreReadInParts(t *testing.T) {
	s := nameclaim.Store{KV: kvtest.NewFake()}
	var changes []nameclaim.Change
	for _, view := range []string{"public", "cluster-edge+hub", "cluster-edge/b%2F"} {
		for n := range 10 {
			changes = append(changes, nameclaim.Change{Key: nameclaim.Key{View: view, Name: fmt.Sprintf("*.n%d/%%.lab.example", n)}, Claim: nameclaim.Claim{Project: view, Entries: []nameclaim.Entry{{}}}})
		}
	}
	require.NoError(t, s.Write(t.Context(), changes))
	var found []nameclaim.Key
	var after nameclaim.Key
	for {
		page, err := s.Page(t.Context(), after, 7)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, at := range page {
			require.Equal(t, at.Key.View, at.Claim.Project)
			found = append(found, at.Key)
		}
		after = found[len(found)-1]
	}
	require.Len(t, found, 30)
	for _, c := range changes {
		require.Contains(t, found, c.Key)
	}
	counts, err := s.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"public": 10, "cluster-edge+hub": 10, "cluster-edge/b%2F": 10}, counts)
}
