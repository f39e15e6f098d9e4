package draft_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

func TestOfPutsReferencesInOrder(t *testing.T) {
	given := []intent.Path{"projects/b", "projects/a", "projects/b"}
	d, err := draft.Of(intent.Write{Path: "projects/x", Body: []byte(" {} \n"), Refs: given})
	require.NoError(t, err)
	require.Equal(t, []intent.Path{"projects/a", "projects/b"}, d.Refs)
	require.Equal(t, "{}", string(d.Body))
	require.Equal(t, intent.Path("projects/b"), given[0], "the caller's list stays as it is")
}

func TestCheckPath(t *testing.T) {
	for path, want := range map[intent.Path]intent.Code{
		"projects/a":                         "",
		"projects/a/composite-apps/store/v1": "",
		"lifecycle/projects/a":               "",
		"":                                   intent.Invalid,
		"projects":                           intent.Invalid,
		"/projects/a":                        intent.Invalid,
		"projects/a/":                        intent.Invalid,
		"projects//a":                        intent.Invalid,
		"lifecycle":                          intent.Invalid,
		"projects/a/composite-apps":          intent.Invalid,
		"projects/\x00":                      intent.Invalid,
		"projects/\xff":                      intent.Invalid,
	} {
		require.Equal(t, want, intent.CodeOf(draft.CheckPath(path)), "%q", path)
	}
}

func TestNext(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 123456789, time.FixedZone("east", 3600))
	d, err := draft.Of(intent.Write{Path: "projects/x", Body: []byte(`{"a":1}`)})
	require.NoError(t, err)
	first, changed, err := d.Next(nil, now, bytes.NewReader(make([]byte, 16)))
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, strings.Repeat("0", 32), first.UID)
	require.Equal(t, time.Date(2026, 11, 1, 11, 0, 0, 123e6, time.UTC), first.CreatedAt)

	same, changed, err := d.Next(&first, now.Add(time.Hour), nil)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, first, same)

	d.Body = []byte(`{"a":2}`)
	second, changed, err := d.Next(&first, now.Add(-time.Hour), nil)
	require.NoError(t, err)
	require.True(t, changed)
	require.EqualValues(t, 2, second.Revision)
	require.Equal(t, first.UID, second.UID)
	require.Equal(t, first.UpdatedAt, second.UpdatedAt, "a clock that goes back is not followed")

	_, _, err = d.Next(nil, now, bytes.NewReader(nil))
	require.Error(t, err, "no identity without randomness")
}

func TestDiff(t *testing.T) {
	added, removed := draft.Diff([]intent.Path{"a", "b", "c"}, []intent.Path{"b", "d"})
	require.Equal(t, []intent.Path{"d"}, added)
	require.Equal(t, []intent.Path{"a", "c"}, removed)
}

func FuzzAfter(f *testing.F) {
	f.Add(draft.Cursor("name"), "n")
	f.Add("", "")
	f.Add("%%%", "")
	f.Fuzz(func(t *testing.T, token, prefix string) {
		name, err := draft.After(intent.ListOptions{Collection: "projects", NamePrefix: prefix, Continue: token})
		if err != nil {
			require.Equal(t, intent.Invalid, intent.CodeOf(err))
			return
		}
		if token != "" {
			require.Equal(t, token, draft.Cursor(name), "each place has one token")
			require.True(t, strings.HasPrefix(name, prefix))
		}
	})
}
