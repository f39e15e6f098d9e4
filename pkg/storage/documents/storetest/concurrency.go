package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	parents = 3
	rounds  = 25
)

func parentPath(n int) intent.Path { return intent.Path(fmt.Sprintf("projects/parent-%d", n)) }

// race lets writers of children meet deleters of their parents, each over a
// store of its own, and checks what is left. Refusals are part of the game,
// failures are not.
func race(t *testing.T, data Data, child func(s intent.Store, writer, round int) error) {
	s := data.Open(t)
	var refusals, successes atomic.Int64
	count := func(err error) {
		switch intent.CodeOf(err) {
		case intent.NotFound, intent.Conflict:
			refusals.Add(1)
		case "":
			if err != nil {
				t.Error(err)
			}
			successes.Add(1)
		default:
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	for writer := range 3 {
		mine, theirs := data.Open(t), data.Open(t)
		group.Go(func() {
			for round := range rounds {
				count(child(mine, writer, round))
			}
		})
		group.Go(func() {
			for round := range rounds {
				parent := parentPath((writer + round) % parents)
				_, err := theirs.Put(t.Context(), intent.Write{Path: parent, Body: body("p")})
				count(err)
				count(theirs.Delete(t.Context(), parent, intent.Always()))
			}
		})
	}
	group.Wait()
	t.Logf("%d successes, %d refusals", successes.Load(), refusals.Load())
	requireWhole(t, s)
	require.NoError(t, s.Sweep(t.Context()))
	requireWhole(t, s)
	emptyAll(t, s)
}

func concurrentWriters(t *testing.T, data Data) {
	race(t, data, func(s intent.Store, writer, round int) error {
		path := intent.Path(fmt.Sprintf("cluster-providers/child-%d-%d", writer, round))
		_, err := s.Put(t.Context(), intent.Write{Path: path, Body: body("c"), Refs: []intent.Path{parentPath(rand.IntN(parents))}})
		if err == nil && round%2 == 0 {
			err = s.Delete(t.Context(), path, intent.Always())
		}
		return err
	})
}

func concurrentReplacements(t *testing.T, data Data) {
	race(t, data, func(s intent.Store, writer, round int) error {
		path := intent.Path(fmt.Sprintf("cluster-providers/shared-%d", round%2))
		refs := []intent.Path{parentPath(rand.IntN(parents)), parentPath(rand.IntN(parents))}
		_, err := s.Put(t.Context(), intent.Write{Path: path, Body: body(fmt.Sprint(writer, round)), Refs: refs})
		return err
	})
}

func sweeperDisturbsNobody(t *testing.T, data Data) {
	s := data.Open(t)
	done := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := s.Sweep(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	defer sweeping.Wait()
	defer close(done)
	race(t, data, func(s intent.Store, writer, round int) error {
		path := intent.Path(fmt.Sprintf("cluster-providers/swept-%d", round%3))
		_, err := s.Put(t.Context(), intent.Write{Path: path, Body: body(fmt.Sprint(writer, round)), Refs: []intent.Path{parentPath(rand.IntN(parents))}})
		return err
	})
}

// requireWhole proves that no reference dangles, and that referrers are
// exactly the documents that refer.
func requireWhole(t *testing.T, s intent.Store) {
	t.Helper()
	want := map[intent.Path][]intent.Path{}
	for _, collection := range []string{"cluster-providers", "projects"} {
		for _, doc := range list(t, s, intent.ListOptions{Collection: collection}).Items {
			for _, ref := range doc.Refs {
				_, err := s.Get(t.Context(), ref)
				require.NoError(t, err, "%s dangles", doc.Path)
				want[ref] = append(want[ref], doc.Path)
			}
		}
	}
	for n := range parents {
		found, err := s.Referrers(t.Context(), parentPath(n))
		require.NoError(t, err)
		require.ElementsMatch(t, want[parentPath(n)], found)
	}
}

// emptyAll proves that nothing is blocked: everything can be deleted.
func emptyAll(t *testing.T, s intent.Store) {
	t.Helper()
	for _, collection := range []string{"cluster-providers", "projects"} {
		for _, doc := range list(t, s, intent.ListOptions{Collection: collection}).Items {
			require.NoError(t, s.Delete(t.Context(), doc.Path, intent.Always()))
		}
		require.Empty(t, list(t, s, intent.ListOptions{Collection: collection}).Items)
	}
}
