package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// meeting is how long the second of two writes, which meets the first half way, may wait
// for it. The first goes on only when the second has returned.
const meeting = 100 * time.Millisecond

// turn is one of two writes that meet.
type turn func(ctx context.Context, s intent.Store, on scene) error

func creates(text string, ref func(scene) intent.Path) turn {
	return func(ctx context.Context, s intent.Store, on scene) error {
		_, err := s.Put(ctx, intent.Write{Path: on.doc, Body: body(text), Refs: []intent.Path{ref(on)}})
		return err
	}
}

func deletes(path func(scene) intent.Path) turn {
	return func(ctx context.Context, s intent.Store, on scene) error {
		return s.Delete(ctx, path(on), intent.Always())
	}
}

func deletesAll(path func(scene) intent.Path) turn {
	return func(ctx context.Context, s intent.Store, on scene) error {
		return s.DeleteAll(ctx, []intent.Path{path(on)})
	}
}

func sweepsAnd(then turn) turn {
	return func(ctx context.Context, s intent.Store, on scene) error {
		if err := s.Sweep(ctx); err != nil {
			return err
		}
		return then(ctx, s, on)
	}
}

// interleavedAtEveryStep lets a second write run, from its beginning to its end, between
// any two steps of a first one. At the end no reference dangles, and nothing stays
// blocked.
func interleavedAtEveryStep(t *testing.T, data Data) {
	theDoc := func(on scene) intent.Path { return on.doc }
	theOld := func(on scene) intent.Path { return on.old }
	theNew := func(on scene) intent.Path { return on.new }
	n := 0
	for _, one := range []struct {
		reason        string
		exists        bool // the document, referring to old
		first, second turn
	}{
		{"a target goes while a document is made", false, creates("old", theOld), deletes(theOld)},
		{"a document is made while its target goes", false, deletes(theOld), creates("old", theOld)},
		{"a target goes with others while a document is made", false, creates("old", theOld), deletesAll(theOld)},
		{"a document is made while its target goes with others", false, deletesAll(theOld), creates("old", theOld)},
		{"a target goes while a document turns to it", true, creates("new", theNew), deletes(theNew)},
		{"a document turns to a target that goes", true, deletes(theNew), creates("new", theNew)},
		{"an old target goes while a document turns from it", true, creates("new", theNew), deletes(theOld)},
		{"a document turns from a target that goes", true, deletes(theOld), creates("new", theNew)},
		{"a document goes while it is replaced", true, creates("new", theNew), deletes(theDoc)},
		{"a document is replaced while it goes", true, deletes(theDoc), creates("new", theNew)},
		{"two replace it", true, creates("new", theNew), creates("old", theOld)},
		{"a sweeper and a deleter come by a writer", false, creates("old", theOld), sweepsAnd(deletes(theOld))},
		{"a sweeper and a writer come by a deleter", false, deletes(theOld), sweepsAnd(creates("old", theOld))},
		{"a sweeper and a deleter come by a replacement", true, creates("new", theNew), sweepsAnd(deletes(theNew))},
		{"a sweeper and another writer come by a replacement", true, creates("new", theNew), sweepsAnd(creates("old", theOld))},
	} {
		for step := 1; meet(t, data, newScene(n), one.exists, step, one.first, one.second, one.reason); step++ {
			n++
		}
		n++
	}
}

// meet lets them meet at one step of the first, and answers whether it has so
// many.
func meet(t *testing.T, data Data, on scene, exists bool, step int, first, second turn, reason string) bool {
	s := data.Open(t)
	put(t, s, on.old, "x")
	put(t, s, on.new, "x")
	if exists {
		put(t, s, on.doc, "old", on.old)
	}
	steps, at := 0, ""
	var secondErr error
	halting := data.Crashing(t, func(name string) error {
		steps++
		if steps == step {
			at = name
			ctx, cancel := context.WithTimeout(t.Context(), meeting)
			defer cancel()
			secondErr = second(ctx, s, on)
		}
		return nil
	})
	firstErr := first(t.Context(), halting, on)
	t.Logf("%s, at %q: %v; %v", reason, at, firstErr, secondErr)
	for _, err := range []error{firstErr, secondErr} {
		require.Contains(t, []intent.Code{"", intent.Conflict, intent.NotFound, intent.Unavailable}, intent.CodeOf(err), "%s at %s: %v", reason, at, err)
	}
	require.Eventually(t, func() bool {
		_, err := s.Get(t.Context(), on.doc)
		return intent.CodeOf(err) != intent.Unavailable
	}, patience, time.Millisecond, "a server that gives the second write up may give up a request after it, too: the caller reads again")
	requireWholeDocument(t, s, on)
	require.NoError(t, s.Sweep(t.Context()))
	requireWholeDocument(t, s, on)
	requireFree(t, s, on)
	return at != ""
}
