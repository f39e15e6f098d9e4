package overlay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/overlay"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

func put(t *testing.T, store intent.Store, path intent.Path, body string, refs ...intent.Path) intent.Document {
	t.Helper()
	doc, err := store.Put(t.Context(), intent.Write{Path: path, Body: []byte(body), Refs: refs})
	require.NoError(t, err)
	return doc
}

func TestReadersFindLaidDocumentsAndTheStoreBelowHasNone(t *testing.T) {
	t.Parallel()
	below := etcd.New(kvtest.NewFake())
	first := put(t, below, "projects/a", `{}`)
	put(t, below, "projects/b", `{}`)
	over := overlay.New(below)
	same := put(t, over, "projects/a", `{}`)
	require.Equal(t, first, same, "it says the same")
	changed := put(t, over, "projects/b", `{"x":1}`)
	require.EqualValues(t, 2, changed.Revision)
	added := put(t, over, "projects/c", `{}`)
	require.EqualValues(t, 1, added.Revision)
	require.NotEmpty(t, added.UID)

	got, err := over.GetAll(t.Context(), []intent.Path{"projects/c", "projects/d", "projects/a", "projects/b"})
	require.NoError(t, err)
	require.Equal(t, []intent.Document{added, first, changed}, got)
	_, err = over.Get(t.Context(), "projects/d")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	_, err = below.Get(t.Context(), "projects/c")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	_, err = over.Put(t.Context(), intent.Write{Path: "projects/d", Body: []byte(`{}`), Refs: []intent.Path{"projects/e", "secrets/x"}})
	var missing *intent.MissingReference
	require.ErrorAs(t, err, &missing)
	require.EqualValues(t, "projects/e", missing.To)
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(over.Delete(t.Context(), "projects/a", intent.IfRevision(7))))
	require.NoError(t, over.Delete(t.Context(), "projects/a", intent.Always()))
	require.Equal(t, intent.NotFound, intent.CodeOf(over.Delete(t.Context(), "projects/a", intent.Always())))
	got, err = over.GetAll(t.Context(), []intent.Path{"projects/a", "projects/c"})
	require.NoError(t, err)
	require.Equal(t, []intent.Document{added}, got)
	_, err = below.Get(t.Context(), "projects/a")
	require.NoError(t, err)
	_, err = over.Put(t.Context(), intent.Write{Path: "projects/b", Body: []byte(`{}`), Condition: intent.IfRevision(1)})
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "it is at revision 2 here")
}

// TestPagesHaveEachDocumentOnce in their order, wherever laid documents come between.
func TestPagesHaveEachDocumentOnce(t *testing.T) {
	t.Parallel()
	below := etcd.New(kvtest.NewFake())
	for n := range 10 {
		put(t, below, intent.Path(fmt.Sprintf("projects/p%d", n)), `{}`)
	}
	over := overlay.New(below)
	for _, name := range []string{"a", "p3", "p35", "p4a", "p9", "z"} {
		put(t, over, intent.Path("projects/"+name), `{"laid":true}`)
	}
	put(t, over, "cluster-providers/p5", `{}`)
	require.NoError(t, over.Delete(t.Context(), "projects/p7", intent.Always()))
	for _, limit := range []int{0, 1, 2, 3, 100} {
		for prefix, want := range map[string]string{"": "a p0 p1 p2 p3 p35 p4 p4a p5 p6 p8 p9 z", "p": "p0 p1 p2 p3 p35 p4 p4a p5 p6 p8 p9", "z": "z", "q": ""} {
			var names []string
			require.NoError(t, intent.Each(t.Context(), over, intent.ListOptions{Collection: "projects", Limit: limit, NamePrefix: prefix}, func(doc intent.Document) error {
				names = append(names, doc.Path.Name())
				return nil
			}))
			require.Equal(t, want, strings.Join(names, " "), "%d %q", limit, prefix)
		}
	}
	_, err := over.List(t.Context(), intent.ListOptions{Collection: "projects", Continue: "?"})
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}

func TestReferrersAreThoseOfLaidDocuments(t *testing.T) {
	t.Parallel()
	below := etcd.New(kvtest.NewFake())
	for _, path := range []intent.Path{"projects/a", "projects/b"} {
		put(t, below, path, `{}`)
	}
	put(t, below, "projects/x", `{}`, "projects/a")
	put(t, below, "projects/y", `{}`, "projects/a")
	over := overlay.New(below)
	put(t, over, "projects/x", `{}`, "projects/b")
	put(t, over, "projects/new", `{}`, "projects/a")
	for to, want := range map[intent.Path][]intent.Path{"projects/a": {"projects/new", "projects/y"}, "projects/b": {"projects/x"}} {
		got, err := over.Referrers(t.Context(), to)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
