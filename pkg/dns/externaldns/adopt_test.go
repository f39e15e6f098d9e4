package externaldns

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhoAdoptsDeletesNothing: with policy sync external-dns would delete every
// name with the other's mark that it is not asked for.
func TestWhoAdoptsDeletesNothing(t *testing.T) {
	for _, v := range []Version{V020, V021, V022} {
		for _, parameters := range []Parameters{nil, {"policy": "sync"}, {"policy": "upsert-only"}} {
			o := options(Record{Provider: "aws", Parameters: parameters})
			o.Version = v
			before := compiled(t, o)
			o.Adopt = "legacy"
			got := compiled(t, o)
			assert.Contains(t, got, "--migrate-from-txt-owner=legacy")
			assert.Contains(t, got, "--policy=upsert-only")
			assert.NotContains(t, got, "--policy=sync")
			others := func(arg string) bool { return arg == "--migrate-from-txt-owner=legacy" || flagName(arg) == "policy" }
			assert.Equal(t, slices.DeleteFunc(before, others), slices.DeleteFunc(got, others), "all else is as the record asks for")
		}
	}
}

func TestWhoCanAdopt(t *testing.T) {
	for _, c := range []struct {
		reason, provider string
		parameters       Parameters
		says             string
	}{
		{"a set is replaced whole", "aws", nil, ""},
		{"so it is", "azure-dns", Parameters{"policy": "upsert-only"}, ""},
		{"so it is", "pdns", nil, ""},
		{"the former mark would stay beside the new one", "rfc2136", nil, "cannot replace a mark; it can with aws, azure, azure-dns, azure-private-dns, pdns"},
		{"a key for each", "coredns", nil, "cannot replace a mark"},
		{"the former is deleted by the new value, which fails", "google", nil, "cannot replace a mark"},
		{"nobody knows", "webhook", nil, "cannot replace a mark"},
		{"Cloud Map", "aws", Parameters{"registry": "dynamodb"}, "the provider has registry dynamodb"},
		{"unreadable", "aws", Parameters{"txt-encrypt-enabled": true}, "encrypts its marks"},
		{"no changes", "aws", Parameters{"policy": "create-only"}, "changes no mark"},
		{"no changes", "aws", Parameters{"dry-run": true}, "changes nothing"},
	} {
		t.Run(c.provider+" "+c.reason, func(t *testing.T) {
			why := Unadoptable(Record{Provider: c.provider, Parameters: c.parameters}, V022)
			if c.says == "" {
				require.Empty(t, why)
			}
			require.Contains(t, why, c.says)
		})
	}
}
