package mongo

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

var (
	noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	doc  = intent.Document{
		Path:      "projects/shop/composite-apps/store/v1",
		UID:       "u",
		Revision:  3,
		CreatedAt: noon,
		UpdatedAt: noon.Add(time.Millisecond),
		Refs:      []intent.Path{"projects/shop"},
		Body:      []byte(`{"a":1.0}`),
		Schema:    1,
	}
)

func TestRecordSurvivesItsEncoding(t *testing.T) {
	for name, before := range map[string]*record{
		"promoted":       promoted(doc.Path, doc, "t"),
		"staged, new":    staged(doc.Path, nil, doc, "t", noon),
		"staged, change": staged(doc.Path, promoted(doc.Path, doc, "t1"), doc, "t2", noon),
		"marked":         promoted(doc.Path, doc, "t1").marked("t2", noon),
	} {
		raw, err := bson.Marshal(before)
		require.NoError(t, err, name)
		var after record
		require.NoError(t, bson.Unmarshal(raw, &after), name)
		again, err := bson.Marshal(&after)
		require.NoError(t, err, name)
		require.Equal(t, raw, again, name)
		require.Equal(t, before.document(), after.document(), name)
		require.Equal(t, before.busy(), after.busy(), name)
		require.True(t, before.Staged.Equal(after.Staged), name)
	}
}

func TestSettledRecordHasNoTraceOfAWrite(t *testing.T) {
	raw, err := bson.Marshal(promoted(doc.Path, doc, "t"))
	require.NoError(t, err)
	for _, field := range []string{"pending", "deleting", "staged"} {
		_, err := bson.Raw(raw).LookupErr(field)
		require.Error(t, err, "%s: the sweeper's index would hold every record", field)
	}
}

func TestReadersSeePendingAsAbsentAndDeletingAsPresent(t *testing.T) {
	var none *record
	require.Nil(t, none.document())
	require.Zero(t, none.revision())
	require.False(t, none.busy())

	fresh := staged(doc.Path, nil, doc, "t", noon)
	require.Nil(t, fresh.document())
	require.Zero(t, fresh.revision())
	require.True(t, fresh.busy())
	require.Nil(t, fresh.restored("t2"), "nothing is left of it")

	live := promoted(doc.Path, doc, "t")
	require.Equal(t, &doc, live.document())
	require.Equal(t, "projects/shop/composite-apps", live.Collection)
	require.Equal(t, "store/v1", live.Name)

	mark := live.marked("t2", noon)
	require.Equal(t, &doc, mark.document())
	require.True(t, mark.busy())
	require.Equal(t, promoted(doc.Path, doc, "t3"), mark.restored("t3"))
	require.False(t, live.busy(), "the record that was read stays as it is")
}

func TestReplacementHoldsOldAndNewReferencesUntilItIsPromoted(t *testing.T) {
	changed := doc
	changed.Refs = []intent.Path{"cluster-providers/x", "projects/shop"}
	changed.Revision = 4
	first := promoted(doc.Path, doc, "t1")
	second := staged(doc.Path, first, changed, "t2", noon)
	require.Equal(t, []string{"cluster-providers/x", "projects/shop"}, second.Holds)
	require.EqualValues(t, 3, second.revision(), "readers see the old content")
	changed.Refs = nil
	require.Equal(t, []string{"projects/shop"}, staged(doc.Path, first, changed, "t2", noon).Holds, "what is given up is held until then")
	require.Empty(t, promoted(doc.Path, changed, "t3").Holds)
}

func TestNameRangeEndsWithThePrefix(t *testing.T) {
	require.Equal(t, bson.D{{Key: "$gte", Value: ""}, {Key: "$gt", Value: "m"}}, nameRange("", "m"))
	require.Equal(t, bson.D{{Key: "$gte", Value: "ab"}, {Key: "$gt", Value: ""}, {Key: "$lt", Value: "ac"}}, nameRange("ab", ""))
	require.Len(t, nameRange("é", ""), 2, "no bound beyond ASCII: List ends it")
}

func TestNewTellsWhatIsWrong(t *testing.T) {
	_, err := New(t.Context(), "not a uri")
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = New(ctx, "mongodb://127.0.0.1:1")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err), "%v", err)
}

func TestPauseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, pause(ctx, 60), context.Canceled)
	require.NoError(t, pause(t.Context(), 0))
}

// TestWhoIsAboutToReferHoldsADocument: a deletion waits for such a writer, or is refused.
func TestWhoIsAboutToReferHoldsADocument(t *testing.T) {
	require.True(t, holders{}.none())
	require.False(t, holders{live: []intent.Path{doc.Path}}.none())
	require.False(t, holders{pending: []intent.Path{doc.Path}}.none())
}
