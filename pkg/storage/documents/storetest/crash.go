package storetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// scene is what one crash test plays with: a document and two that it may
// refer to, under names of its own.
type scene struct{ doc, old, new intent.Path }

func newScene(n int) scene {
	return scene{
		doc: intent.Path(fmt.Sprintf("cluster-providers/doc-%d", n)),
		old: intent.Path(fmt.Sprintf("projects/old-%d", n)),
		new: intent.Path(fmt.Sprintf("projects/new-%d", n)),
	}
}

// crash is the error of a step at which the process dies.
func crash(name string) error {
	return &intent.Error{Code: intent.Unavailable, Detail: "died at " + name}
}

// play is one write and what must be true around it.
type play struct {
	prepare func(s intent.Store, on scene)       // what is there before
	act     func(s intent.Store, on scene) error // the write
	after   func(s intent.Store, on scene)       // true when it was acknowledged
	always  func(s intent.Store, on scene)       // true however it ended
}

// crashAtEveryStep acts on stores that die at their first, second, … step,
// until one lives to the end. After each death another process comes, looks,
// sweeps and looks again; then everything can be removed.
func crashAtEveryStep(t *testing.T, data Data, p play) {
	for n := 1; ; n++ {
		on, steps, died := newScene(n), 0, ""
		p.prepare(data.Open(t), on)
		err := p.act(data.Crashing(t, func(name string) error {
			steps++
			if steps >= n {
				died = name
				return crash(name)
			}
			return nil
		}), on)
		t.Logf("death at step %d: %q", n, died)
		other := data.Open(t)
		if err == nil {
			p.after(other, on)
		}
		requireWholeDocument(t, other, on)
		require.NoError(t, other.Sweep(t.Context()))
		requireWholeDocument(t, other, on)
		p.always(other, on)
		if err == nil {
			p.after(other, on)
		}
		requireFree(t, other, on)
		if died == "" {
			require.Greater(t, n, 2, "a write takes one step ahead and one behind at least")
			return
		}
	}
}

// requireWholeDocument proves that the document is absent, or as one of the
// two writes made it, with references that hold.
func requireWholeDocument(t *testing.T, s intent.Store, on scene) {
	t.Helper()
	doc, err := s.Get(t.Context(), on.doc)
	if intent.CodeOf(err) == intent.NotFound {
		return
	}
	require.NoError(t, err)
	want := []intent.Path{on.old}
	if bytes.Equal(doc.Body, body("new")) {
		want = []intent.Path{on.new}
	} else {
		require.Equal(t, string(body("old")), string(doc.Body))
	}
	require.Equal(t, want, doc.Refs)
	for _, ref := range doc.Refs {
		get(t, s, ref)
	}
}

// requireFree proves that nothing is blocked: references hold what they
// should and no more, and all can be written and removed.
func requireFree(t *testing.T, s intent.Store, on scene) {
	t.Helper()
	refs := map[intent.Path]bool{}
	if doc, err := s.Get(t.Context(), on.doc); err == nil {
		for _, ref := range doc.Refs {
			refs[ref] = true
		}
	}
	for _, target := range []intent.Path{on.old, on.new} {
		if _, err := s.Get(t.Context(), target); err != nil {
			continue
		}
		err := s.Delete(t.Context(), target, intent.Always())
		if refs[target] {
			requireReferenced(t, err, target, on.doc)
		} else {
			require.NoError(t, err)
		}
	}
	put(t, s, on.old, "again")
	put(t, s, on.doc, "again", on.old)
	require.NoError(t, s.Delete(t.Context(), on.doc, intent.Always()))
	require.NoError(t, s.Delete(t.Context(), on.old, intent.Always()))
}

func write(t *testing.T, s intent.Store, path intent.Path, text string, refs ...intent.Path) error {
	_, err := s.Put(t.Context(), intent.Write{Path: path, Body: body(text), Refs: refs})
	return err
}

func crashOfCreate(t *testing.T, data Data) {
	crashAtEveryStep(t, data, play{
		prepare: func(s intent.Store, on scene) { put(t, s, on.old, "x") },
		act:     func(s intent.Store, on scene) error { return write(t, s, on.doc, "old", on.old) },
		after:   func(s intent.Store, on scene) { get(t, s, on.doc) },
		always:  func(s intent.Store, on scene) { get(t, s, on.old) },
	})
}

func crashOfReplace(t *testing.T, data Data) {
	crashAtEveryStep(t, data, play{
		prepare: func(s intent.Store, on scene) {
			put(t, s, on.old, "x")
			put(t, s, on.new, "x")
			put(t, s, on.doc, "old", on.old)
		},
		act:    func(s intent.Store, on scene) error { return write(t, s, on.doc, "new", on.new) },
		after:  func(s intent.Store, on scene) { require.Equal(t, body("new"), get(t, s, on.doc).Body) },
		always: func(s intent.Store, on scene) { get(t, s, on.doc) },
	})
}

func crashOfDelete(t *testing.T, data Data) {
	crashAtEveryStep(t, data, play{
		prepare: func(s intent.Store, on scene) {
			put(t, s, on.old, "x")
			put(t, s, on.doc, "old", on.old)
		},
		act: func(s intent.Store, on scene) error { return s.Delete(t.Context(), on.doc, intent.Always()) },
		after: func(s intent.Store, on scene) {
			_, err := s.Get(t.Context(), on.doc)
			requireCode(t, intent.NotFound, err)
		},
		always: func(s intent.Store, on scene) { get(t, s, on.old) },
	})
}

func crashOfDeleteAll(t *testing.T, data Data) {
	crashAtEveryStep(t, data, play{
		prepare: func(s intent.Store, on scene) {
			put(t, s, on.old, "x")
			put(t, s, on.new, "x")
			put(t, s, on.doc, "old", on.old)
		},
		act: func(s intent.Store, on scene) error {
			return s.DeleteAll(t.Context(), []intent.Path{on.new, on.doc})
		},
		after: func(s intent.Store, on scene) {
			for _, gone := range []intent.Path{on.doc, on.new} {
				_, err := s.Get(t.Context(), gone)
				requireCode(t, intent.NotFound, err)
			}
		},
		always: func(s intent.Store, on scene) { get(t, s, on.old) },
	})
}

func crashOfRefusals(t *testing.T, data Data) {
	crashAtEveryStep(t, data, play{
		prepare: func(s intent.Store, on scene) {
			put(t, s, on.old, "x")
			put(t, s, on.doc, "old", on.old)
		},
		act: func(s intent.Store, on scene) error {
			requireRefusedOrDead(t, s.Delete(t.Context(), on.old, intent.Always()))
			requireRefusedOrDead(t, write(t, s, on.doc, "new", on.new))
			return nil
		},
		after: func(s intent.Store, on scene) { require.Equal(t, body("old"), get(t, s, on.doc).Body) },
		always: func(s intent.Store, on scene) {
			_, err := s.Get(t.Context(), on.new)
			requireCode(t, intent.NotFound, err)
		},
	})
}

func requireRefusedOrDead(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.Contains(t, []intent.Code{intent.Conflict, intent.Unavailable}, intent.CodeOf(err), "%v", err)
}

// lostAnswers breaks the connection once, at every step in turn, before a write or after
// it: the store has to find out, and to acknowledge.
func lostAnswers(t *testing.T, data Data) {
	for n := 1; ; n++ {
		on, steps, lost := newScene(n), 0, ""
		put(t, data.Open(t), on.old, "x")
		put(t, data.Open(t), on.new, "x")
		s := data.Crashing(t, func(name string) error {
			steps++
			if steps == n {
				lost = name
				return crash(name)
			}
			return nil
		})
		require.NoError(t, write(t, s, on.doc, "old", on.old), "lost %s", lost)
		require.NoError(t, write(t, s, on.doc, "new", on.new), "lost %s", lost)
		require.EqualValues(t, 2, get(t, s, on.doc).Revision)
		require.NoError(t, s.Delete(t.Context(), on.old, intent.Always()), "lost %s", lost)
		require.NoError(t, s.Delete(t.Context(), on.doc, intent.Always()), "lost %s", lost)
		require.NoError(t, s.Delete(t.Context(), on.new, intent.Always()), "lost %s", lost)
		if lost == "" {
			return
		}
	}
}
