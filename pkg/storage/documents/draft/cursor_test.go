package draft_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// TestACursorIsForTheListThatAnsweredIt checks that another list refuses it.
func TestACursorIsForTheListThatAnsweredIt(t *testing.T) {
	t.Parallel()
	list := intent.ListOptions{Collection: "lifecycle", NamePrefix: "projects/a/", Continue: draft.Cursor("projects/a/x")}
	name, err := draft.After(list)
	require.NoError(t, err)
	require.Equal(t, "projects/a/x", name)
	list.NamePrefix = "projects/b/"
	_, err = draft.After(list)
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}
