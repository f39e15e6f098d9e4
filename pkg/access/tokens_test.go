package access_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
)

func TestABrokenTokenFileIsRefusedByLineAndNeverQuoted(t *testing.T) {
	for content, want := range map[string]string{
		"":                            "holds no token",
		"# nothing\n":                 "holds no token",
		"\n\nhush,anna\n":             "line 3: want TOKEN,SUBJECT,ROLE[,PROJECT]",
		"hush,anna,admin,shop,more":   "line 1: want TOKEN,SUBJECT,ROLE[,PROJECT]",
		"hush,anna,boss":              "line 1: unknown role; want one of viewer, editor, operator, admin",
		"hush,,admin":                 "line 1: a field is empty",
		",anna,admin":                 "line 1: a field is empty",
		"hush,anna,admin,":            "line 1: a field is empty",
		"hush,anna,admin,*":           `line 1: "*" is not a name of a project; for all projects leave them out`,
		"hush,signpost,admin":         `line 1: subject "signpost" would collide with another`,
		"hush,oidc:anna,admin":        "line 1: subject",
		"hush,cert:root,viewer,shop":  "choose one that is not signpost and begins neither with oidc: nor with cert:",
		"hush,a,admin\nhush,b,viewer": "line 2: the token is already on an earlier line",
	} {
		file := filepath.Join(t.TempDir(), "tokens")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		_, err := access.Open(access.Options{TokenFile: file})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hush")
	}
	_, err := access.Open(access.Options{TokenFile: filepath.Join(t.TempDir(), "none")})
	require.ErrorIs(t, err, os.ErrNotExist)
}
