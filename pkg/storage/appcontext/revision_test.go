package appcontext_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestObjectsAreOfTheRevisionThatIsAnswered checks a reader that is overtaken by a
// writer between its two requests, one for each app.
func TestObjectsAreOfTheRevisionThatIsAnswered(t *testing.T) {
	t.Parallel()
	fake := kvtest.NewFake()
	s := appcontext.NewStore(fake, time.Now)
	api := configMap(t, "edge+hub", "api", "b", "1")
	old, changed := configMap(t, "edge+hub", "web", "a", "1"), configMap(t, "edge+hub", "web", "a", "2")
	before, after := collect(t, api, old), collect(t, api, changed)
	p := commit(t, s, appcontext.Context{ID: "17", Objects: before})
	requests := 0
	fake.Before = func(string, string) error {
		requests++
		if requests == 2 {
			fake.Before = nil
			_, err := s.Rewrite(t.Context(), p, "web", "edge+hub", bundle.Diff(collect(t, old), collect(t, changed)))
			require.NoError(t, err)
		}
		return nil
	}
	objects, revision, err := s.ObjectsOn(t.Context(), p, "edge+hub")
	require.NoError(t, err)
	require.Equal(t, before, objects)
	objects, later, err := s.ObjectsOn(t.Context(), p, "edge+hub")
	require.NoError(t, err)
	require.Equal(t, after, objects)
	require.Greater(t, later, revision)
}

// TestWhatIsNotCurrentAnyMoreIsNotReplaced checks a writer that held the objects
// of a context before the owner got another one.
func TestWhatIsNotCurrentAnyMoreIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := appcontext.NewStore(kvtest.NewFake(), time.Now)
	object := configMap(t, "edge+hub", "web", "a", "1")
	first := commit(t, s, appcontext.Context{ID: "17", Objects: collect(t, object)})
	held, err := s.Held(t.Context(), "17", []appcontext.Place{{App: "web", ID: object.ID}})
	require.NoError(t, err)
	commit(t, s, appcontext.Context{ID: "18", Objects: collect(t, object)})
	changed := configMap(t, "edge+hub", "web", "a", "2")
	err = s.Replace(t.Context(), first, held, nil, []bundle.Object{changed}, appcontext.Touch{})
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
}
