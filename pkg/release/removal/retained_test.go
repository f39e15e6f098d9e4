package removal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestANameBeginsToStayOnce, by what a replica knows: each name is told when it begins, also if the step that kept it first has
// failed, and not again when others follow or another replica has told it.
func TestANameBeginsToStayOnce(t *testing.T) {
	t.Parallel()
	const group = intent.Path("projects/shop/names/a.lab.example")
	a, b := state.Held{Host: "a.lab.example", Provider: "lab"}, state.Held{Host: "b.lab.example", Provider: "lab"}
	kept := func(all ...state.Held) map[state.Held]bool {
		out := map[state.Held]bool{}
		for _, held := range all {
			out[held] = true
		}
		return out
	}
	s := &Guard{}
	require.Equal(t, []state.Held{a}, s.BegunToStay(group, kept(a), false))
	require.Equal(t, []state.Held{b}, s.BegunToStay(group, kept(a, b), true))
	require.Empty(t, s.BegunToStay(group, kept(a, b), true))
	require.Empty(t, s.BegunToStay(group, kept(b), true), "a is offered again")
	require.Equal(t, []state.Held{a}, s.BegunToStay(group, kept(a, b), true), "it is lost again")
	require.Equal(t, []state.Held{a, b}, s.BegunToStay(group, kept(a, b), false), "another replica had let them go meanwhile")

	other := &Guard{}
	require.Empty(t, other.BegunToStay(group, kept(a), true), "the first replica has told it")
	require.Equal(t, []state.Held{b}, other.BegunToStay(group, kept(a, b), true))

	failed := &Guard{}
	failed.BeginToStay(group)
	require.Equal(t, []state.Held{a}, failed.BegunToStay(group, kept(a), true), "the step that kept it first told nothing")
}
