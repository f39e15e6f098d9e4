package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestWhatASubjectMay: the best of the grants that cover the project counts, and
// whoever has none may do nothing.
func TestWhatASubjectMay(t *testing.T) {
	several := access.Subject{Name: "anna", Grants: []access.Grant{
		{Role: access.Operator, Project: "shop"}, {Role: access.Viewer, Project: "shop"}, {Role: access.Viewer, Project: "bakery"},
	}}
	for _, c := range []struct {
		who     access.Subject
		least   access.Role
		project string
		lacks   string // empty: nothing
	}{
		{access.Anonymous(), access.Admin, "", ""},
		{access.Anonymous(), access.Admin, "shop", ""},
		{several, access.Operator, "shop", ""},
		{several, access.Admin, "shop", "anna is operator, but this needs the role admin"},
		{several, access.Editor, "bakery", "anna is viewer, but this needs the role editor"},
		{several, access.Viewer, "garage", "anna has no rights on project garage"},
		{several, access.Viewer, "", "anna has rights only on project bakery, shop"},
		{access.Subject{Name: "otto"}, access.Viewer, "shop", "otto has no role here; the operator of Signpost can grant one in the policy file"},
		{access.Subject{Name: "otto"}, access.Viewer, "", "otto has no role here"},
	} {
		err := c.who.May(c.least, c.project)
		if c.lacks == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.lacks)
		require.Equal(t, intent.Forbidden, intent.CodeOf(err))
	}
}

// TestAnActorSeesWhatItsSubjectMayRead and nothing of other projects.
func TestAnActorSeesWhatItsSubjectMayRead(t *testing.T) {
	actor := access.Subject{Name: "anna", Grants: []access.Grant{{Role: access.Viewer, Project: "shop"}}}.Actor()
	require.Equal(t, "anna", actor.Subject)
	require.True(t, actor.Sees("shop"))
	require.False(t, actor.Sees("bakery"))
	require.False(t, actor.Sees(""))
	require.True(t, access.Anonymous().Actor().Sees("bakery"))
}
