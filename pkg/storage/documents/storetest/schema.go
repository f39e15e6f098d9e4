package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// newerSchema: older programs can read documents of a newer program. They change and
// delete no document that they do not know all of.
func newerSchema(t *testing.T, data Data) {
	s := data.Open(t)
	known := put(t, s, project, "of all versions")
	require.Equal(t, 1, known.Schema)
	require.Equal(t, 1, get(t, s, project).Schema)

	const path = intent.Path("projects/shop/dns-update-records/lab")
	newer, err := s.Put(t.Context(), intent.Write{Path: path, Body: body("tomorrow"), Refs: []intent.Path{project}, Schema: intent.Schema + 1})
	require.NoError(t, err)
	require.Equal(t, intent.Schema+1, newer.Schema)
	require.Equal(t, newer, get(t, s, path))
	all, err := s.GetAll(t.Context(), []intent.Path{path})
	require.NoError(t, err)
	require.Equal(t, []intent.Document{newer}, all)
	page, err := s.List(t.Context(), intent.ListOptions{Collection: path.Collection()})
	require.NoError(t, err)
	require.Equal(t, []intent.Document{newer}, page.Items)

	_, err = s.Put(t.Context(), intent.Write{Path: path, Body: body("today"), Refs: []intent.Path{project}})
	requireCode(t, intent.Conflict, err)
	require.ErrorContains(t, err, fmt.Sprintf("projects/shop/dns-update-records/lab was written by a newer Signpost (schema %d, this one knows %d)", intent.Schema+1, intent.Schema))
	requireCode(t, intent.Conflict, s.Delete(t.Context(), path, intent.Always()))
	require.Equal(t, newer, get(t, s, path))
	requireReferenced(t, s.Delete(t.Context(), project, intent.Always()), project, path)

	same, err := s.Put(t.Context(), intent.Write{Path: path, Body: body("tomorrow"), Refs: []intent.Path{project}})
	require.NoError(t, err, "what changes nothing loses nothing")
	require.Equal(t, newer, same)
	put(t, s, project, "others go on")
}
