package connect

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/client"
)

// TestTheCommandLineSpeaksOfItsFlags where the API names its parameters.
func TestTheCommandLineSpeaksOfItsFlags(t *testing.T) {
	t.Parallel()
	for said, told := range map[string]string{
		"a.example is given by projects/p/names/a.example; take it over with ?takeover=names/a.example, or remove it there": "take it over with --takeover names/a.example, or remove it there",
		"projects/shop does not exist; create it first: POST /v2/projects":                                                  "create it first, by signpost apply. Or give another project, with --project",
		"look at the plan here, and repeat the request with ?confirm=abc":                                                   "look at the plan by --dry-run, and repeat the command with --confirm abc",
		"projects/shop/names/a.example exists already; change it by PUT /v2/projects/shop/names/a.example":                  "exists already; change it by signpost apply",
		"remove the names with --force (?force=true)":                                                                       "remove the names with --force",
		"nothing to translate: https://a.example/?x=1":                                                                      "nothing to translate: https://a.example/?x=1",
	} {
		require.Contains(t, Describe(&client.Error{Status: 409, Detail: said}), told)
		require.NotContains(t, Describe(&client.Error{Status: 409, Detail: said}), "?force")
	}
}
