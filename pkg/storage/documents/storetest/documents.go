package storetest

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func documentComesBack(t *testing.T, data Data) {
	s := data.Open(t)
	put(t, s, project, "p")
	for _, one := range []struct {
		reason string
		path   intent.Path
		body   string
	}{
		{"odd characters", "projects/shop/dns-update-records/a", `{"spec":{"text":"<&> \u00e9 é 😀 \\ \" \u0000"}}`},
		{"numbers as they were written", "projects/shop/dns-update-records/b", `{"n":1.0,"big":12345678901234567890,"e":1e3}`},
		{"order and white space within", "projects/shop/dns-update-records/c", `{"b": 1,   "a": {"d":2, "c":[ ]}}`},
		{"a name of two segments", "projects/shop/composite-apps/store/v1", `{}`},
		{"an internal document, named by a path", "lifecycle/projects/shop/composite-apps/store/v1/deployment-intent-groups/d", `[1,2]`},
		{"a text", "secrets/projects/shop", `"sp1:x"`},
	} {
		stored, err := s.Put(t.Context(), intent.Write{Path: one.path, Body: []byte(one.body), Refs: []intent.Path{project}})
		require.NoError(t, err, one.reason)
		found := get(t, s, one.path)
		require.Equal(t, stored, found, one.reason)
		require.Equal(t, one.body, string(found.Body), one.reason)
		require.Equal(t, []intent.Path{project}, found.Refs, one.reason)
		require.Equal(t, one.path, found.Path, one.reason)
	}
	_, err := s.Get(t.Context(), "projects/none")
	requireCode(t, intent.NotFound, err)
	require.NoError(t, s.Ping(t.Context()))
}

func manyAtOnce(t *testing.T, data Data) {
	s := data.Open(t)
	put(t, s, project, "p")
	paths := []intent.Path{"projects/none", project}
	want := []intent.Document{get(t, s, project)}
	for _, name := range []string{"z", "a", "m"} {
		path := intent.Join("projects/shop/dns-update-records", name)
		want = append(want, put(t, s, path, name, project))
		paths = append(paths, path, path+"-none")
	}
	found, err := s.GetAll(t.Context(), paths)
	require.NoError(t, err)
	require.Equal(t, want, found, "in the order of the paths, without those that do not exist")
	none, err := s.GetAll(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = s.GetAll(t.Context(), []intent.Path{project, "shop"})
	requireCode(t, intent.Invalid, err)
}

func revisionsAndTimes(t *testing.T, data Data) {
	s := data.Open(t)
	before := time.Now().UTC().Truncate(time.Millisecond)
	first := put(t, s, project, "one")
	require.EqualValues(t, 1, first.Revision)
	require.NotEmpty(t, first.UID)
	require.Equal(t, first.CreatedAt, first.UpdatedAt)
	require.Equal(t, time.UTC, first.CreatedAt.Location())
	require.False(t, first.CreatedAt.Before(before))
	require.Zero(t, first.CreatedAt.Nanosecond()%1e6)
	second := put(t, s, project, "two")
	require.EqualValues(t, 2, second.Revision)
	require.Equal(t, first.UID, second.UID)
	require.Equal(t, first.CreatedAt, second.CreatedAt)
	require.False(t, second.UpdatedAt.Before(first.UpdatedAt))
	require.Equal(t, second, get(t, data.Open(t), project), "another store on the same data sees the same")
}

func identicalPut(t *testing.T, data Data) {
	s := data.Open(t)
	put(t, s, "projects/a", "a")
	put(t, s, "projects/b", "b")
	first := put(t, s, project, "one", "projects/a", "projects/b")
	require.Equal(t, first, put(t, s, project, "one", "projects/b", "projects/a", "projects/b"), "order and duplicates of references do not matter")
	require.EqualValues(t, 2, put(t, s, project, "one", "projects/a").Revision, "other references are a change")
	require.EqualValues(t, 3, put(t, s, project, "two", "projects/a").Revision, "another body is a change")
}

func conditions(t *testing.T, data Data) {
	s := data.Open(t)
	write := func(condition intent.Condition, text string) error {
		_, err := s.Put(t.Context(), intent.Write{Path: project, Body: body(text), Condition: condition})
		return err
	}
	requireCode(t, intent.PreconditionFailed, write(intent.IfRevision(1), "x"))
	requireCode(t, intent.NotFound, s.Delete(t.Context(), project, intent.Always()))
	require.NoError(t, write(intent.IfAbsent(), "one"))
	requireCode(t, intent.Conflict, write(intent.IfAbsent(), "x"))
	requireCode(t, intent.Conflict, write(intent.IfAbsent(), "one"), "also when it is the same")
	require.NoError(t, write(intent.Always(), "two"))
	require.NoError(t, write(intent.IfRevision(2), "three"))
	requireCode(t, intent.PreconditionFailed, write(intent.IfRevision(2), "x"))
	requireCode(t, intent.PreconditionFailed, s.Delete(t.Context(), project, intent.IfRevision(2)))
	require.Equal(t, body("three"), get(t, s, project).Body)
	require.NoError(t, s.Delete(t.Context(), project, intent.IfRevision(3)))
	_, err := s.Get(t.Context(), project)
	requireCode(t, intent.NotFound, err)
}

func recreated(t *testing.T, data Data) {
	s := data.Open(t)
	first := put(t, s, project, "one")
	put(t, s, project, "two")
	require.NoError(t, s.Delete(t.Context(), project, intent.Always()))
	again := put(t, s, project, "two")
	require.EqualValues(t, 1, again.Revision)
	require.NotEqual(t, first.UID, again.UID)
}

func manyCreators(t *testing.T, data Data) {
	put(t, data.Open(t), "projects/parent", "p")
	var won, lost atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		s := data.Open(t)
		group.Go(func() {
			_, err := s.Put(t.Context(), intent.Write{Path: project, Body: body("x"), Refs: []intent.Path{"projects/parent"}, Condition: intent.IfAbsent()})
			switch intent.CodeOf(err) {
			case "":
				won.Add(1)
			case intent.Conflict:
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1, won.Load())
	require.EqualValues(t, 7, lost.Load())
}

func manySwaps(t *testing.T, data Data) {
	const writers, each = 4, 10
	put(t, data.Open(t), project, "start")
	var group sync.WaitGroup
	for writer := range writers {
		s := data.Open(t)
		group.Go(func() {
			for n := 0; n < each; {
				doc, err := s.Get(t.Context(), project)
				if err == nil {
					text := strings.Repeat("x", writer+1) + doc.UpdatedAt.String() + string(rune('a'+n))
					_, err = s.Put(t.Context(), intent.Write{Path: project, Body: body(text), Condition: intent.IfRevision(doc.Revision)})
				}
				switch intent.CodeOf(err) {
				case "":
					n++
				case intent.PreconditionFailed:
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1+writers*each, get(t, data.Open(t), project).Revision)
}

func badInput(t *testing.T, data Data) {
	s := data.Open(t)
	tooMany := make([]intent.Path, 2001)
	for i := range tooMany {
		tooMany[i] = intent.Path("projects/" + strings.Repeat("x", i+1))
	}
	for _, one := range []struct {
		reason string
		write  intent.Write
		want   intent.Code
	}{
		{"no path", intent.Write{Body: body("x")}, intent.Invalid},
		{"a collection", intent.Write{Path: "projects", Body: body("x")}, intent.Invalid},
		{"a collection below a document", intent.Write{Path: "projects/shop/kv-pairs", Body: body("x")}, intent.Invalid},
		{"an empty segment", intent.Write{Path: "projects//kv-pairs/a", Body: body("x")}, intent.Invalid},
		{"an empty name", intent.Write{Path: "projects/", Body: body("x")}, intent.Invalid},
		{"a body that is not JSON", intent.Write{Path: project, Body: []byte(`{"a":`)}, intent.Invalid},
		{"a body that is not UTF-8", intent.Write{Path: project, Body: []byte("\"\xff\"")}, intent.Invalid},
		{"a path that is not UTF-8", intent.Write{Path: "projects/\xff", Body: body("x")}, intent.Invalid},
		{"a path with a zero byte", intent.Write{Path: "projects/a\x00", Body: body("x")}, intent.Invalid},
		{"no body", intent.Write{Path: project}, intent.Invalid},
		{"two bodies", intent.Write{Path: project, Body: []byte(`{} {}`)}, intent.Invalid},
		{"a reference that is not a path", intent.Write{Path: project, Body: body("x"), Refs: []intent.Path{"projects"}}, intent.Invalid},
		{"too many references", intent.Write{Path: project, Body: body("x"), Refs: tooMany}, intent.Invalid},
		{"a body above the limit", intent.Write{Path: project, Body: body(strings.Repeat("x", intent.MaxBody))}, intent.TooLarge},
	} {
		_, err := s.Put(t.Context(), one.write)
		requireCode(t, one.want, err, one.reason)
	}
	_, err := s.Get(t.Context(), "projects")
	requireCode(t, intent.Invalid, err)
	page, err := s.List(t.Context(), intent.ListOptions{Collection: "projects"})
	require.NoError(t, err)
	require.NotNil(t, page.Items)
	require.Empty(t, page.Items)
}

func largeBody(t *testing.T, data Data) {
	s := data.Open(t)
	empty := len(body(""))
	put(t, s, "projects/parent", "p")
	text := strings.Repeat("x", intent.MaxBody-empty)
	put(t, s, project, text, "projects/parent")
	require.Len(t, get(t, s, project).Body, intent.MaxBody)
	put(t, s, project, strings.Repeat("y", intent.MaxBody-empty), "projects/parent")
	require.EqualValues(t, 2, get(t, s, project).Revision)
}
