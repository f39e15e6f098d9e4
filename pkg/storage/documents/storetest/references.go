package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func missingReference(t *testing.T, data Data) {
	s := data.Open(t)
	put(t, s, "projects/there", "x")
	_, err := s.Put(t.Context(), intent.Write{Path: project, Body: body("x"), Refs: []intent.Path{"projects/none", "projects/there"}})
	requireMissing(t, err, project, "projects/none")
	_, err = s.Get(t.Context(), project)
	requireCode(t, intent.NotFound, err)
	require.NoError(t, s.Delete(t.Context(), "projects/there", intent.Always()), "what was refused refers to nothing")

	first := put(t, s, project, "one")
	_, err = s.Put(t.Context(), intent.Write{Path: project, Body: body("two"), Refs: []intent.Path{"projects/there"}})
	requireMissing(t, err, project, "projects/there")
	require.Equal(t, first, get(t, s, project))
	require.EqualValues(t, 2, put(t, s, project, "two").Revision)
}

func referencedStays(t *testing.T, data Data) {
	s := data.Open(t)
	put(t, s, project, "p")
	put(t, s, "projects/shop/kv-pairs/b", "b", project)
	put(t, s, "projects/shop/kv-pairs/a", "a", project)
	put(t, s, "projects/shop-2", "other")
	put(t, s, "projects/shop-2/kv-pairs/c", "c", "projects/shop-2")
	by := []intent.Path{"projects/shop/kv-pairs/a", "projects/shop/kv-pairs/b"}
	found, err := s.Referrers(t.Context(), project)
	require.NoError(t, err)
	require.Equal(t, by, found)
	pages := func(after intent.Path, limit int) []intent.Path {
		page, err := s.ReferrersAfter(t.Context(), project, after, limit)
		require.NoError(t, err)
		return page
	}
	require.Equal(t, by, pages("", 2))
	require.Equal(t, by[:1], pages("", 1))
	require.Equal(t, by[1:], pages(by[0], 5))
	require.Empty(t, pages(by[1], 1))
	requireReferenced(t, s.Delete(t.Context(), project, intent.Always()), project, by...)
	require.EqualValues(t, 1, get(t, s, project).Revision)
	put(t, s, project, "changed")
	require.NoError(t, s.Delete(t.Context(), by[0], intent.Always()))
	requireReferenced(t, s.Delete(t.Context(), project, intent.Always()), project, by[1])
	require.NoError(t, s.Delete(t.Context(), by[1], intent.Always()))
	require.NoError(t, s.Delete(t.Context(), project, intent.Always()))
	found, err = s.Referrers(t.Context(), project)
	require.NoError(t, err)
	require.Empty(t, found)
}

func referencesFollow(t *testing.T, data Data) {
	s := data.Open(t)
	for _, name := range []intent.Path{"projects/a", "projects/b", "projects/c"} {
		put(t, s, name, "x")
	}
	put(t, s, project, "one", "projects/a", "projects/b")
	put(t, s, project, "two", "projects/b", "projects/c")
	require.NoError(t, s.Delete(t.Context(), "projects/a", intent.Always()))
	requireReferenced(t, s.Delete(t.Context(), "projects/b", intent.Always()), "projects/b", project)
	requireReferenced(t, s.Delete(t.Context(), "projects/c", intent.Always()), "projects/c", project)
	put(t, s, project, "three")
	require.NoError(t, s.Delete(t.Context(), "projects/b", intent.Always()))
	require.NoError(t, s.Delete(t.Context(), "projects/c", intent.Always()))
}

func selfReference(t *testing.T, data Data) {
	s := data.Open(t)
	_, err := s.Put(t.Context(), intent.Write{Path: project, Body: body("x"), Refs: []intent.Path{project}})
	requireCode(t, intent.Invalid, err)
	put(t, s, "projects/a", "x")
	put(t, s, "projects/b", "x", "projects/a")
	put(t, s, "projects/a", "y", "projects/b")
	requireReferenced(t, s.Delete(t.Context(), "projects/a", intent.Always()), "projects/a", "projects/b")
	put(t, s, "projects/a", "z")
	require.NoError(t, s.Delete(t.Context(), "projects/b", intent.Always()), "a circle is opened by a replacement")
}

func manyReferences(t *testing.T, data Data) {
	const n = 300
	s := data.Open(t)
	var refs []intent.Path
	for i := range n {
		ref := intent.Path(fmt.Sprintf("projects/p%03d", i))
		put(t, s, ref, "x")
		refs = append(refs, ref)
	}
	owner := intent.Path("lifecycle/projects/p000")
	put(t, s, owner, "one", refs...)
	requireReferenced(t, s.Delete(t.Context(), refs[n-1], intent.Always()), refs[n-1], owner)
	put(t, s, owner, "two", refs[:1]...)
	require.NoError(t, s.Delete(t.Context(), refs[n-1], intent.Always()))
	_, err := s.Put(t.Context(), intent.Write{Path: owner, Body: body("three"), Refs: refs})
	requireMissing(t, err, owner, refs[n-1])
	put(t, s, owner, "three", refs[:n-1]...)
	require.NoError(t, s.Delete(t.Context(), owner, intent.Always()))
	require.NoError(t, s.Delete(t.Context(), refs[0], intent.Always()))
}

// manyDeleted deletes more documents than one request takes. Documents in use stay.
func manyDeleted(t *testing.T, data Data) {
	const many = 450
	s := data.Open(t)
	put(t, s, project, "p")
	paths := []intent.Path{project, "projects/none"}
	for n := range many {
		path := intent.Path(fmt.Sprintf("history/%s/%d", project, n))
		if n%100 == 0 {
			put(t, s, path, "x", project) // else this takes too long with some servers
		} else {
			put(t, s, path, "x")
		}
		paths = append(paths, path)
	}
	put(t, s, "projects/shop/kv-pairs/a", "a", "history/projects/shop/7", project)
	paths = append(paths, paths[5])
	require.NoError(t, s.DeleteAll(t.Context(), paths))
	require.Equal(t, []string{"projects/shop/7"}, names(list(t, s, intent.ListOptions{Collection: "history"})))
	get(t, s, project)
	by, err := s.Referrers(t.Context(), project)
	require.NoError(t, err)
	require.Equal(t, []intent.Path{"projects/shop/kv-pairs/a"}, by, "references of deleted documents are gone")
	put(t, s, "history/projects/shop/7", "changed")
	require.NoError(t, s.DeleteAll(t.Context(), []intent.Path{"projects/shop/kv-pairs/a"}))
	require.NoError(t, s.DeleteAll(t.Context(), []intent.Path{project, "history/projects/shop/7"}))
	require.NoError(t, s.DeleteAll(t.Context(), nil))
	for _, path := range paths {
		_, err := s.Get(t.Context(), path)
		requireCode(t, intent.NotFound, err, path)
	}
	requireCode(t, intent.Invalid, s.DeleteAll(t.Context(), []intent.Path{"shop"}))
}
