package externaldns

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMistyped(t *testing.T) {
	for reason, c := range map[string]struct {
		parameter string
		value     any
		want      string // pointer and detail; empty: it is right, or refused for another reason
	}{
		"a boolean in a list":           {"dry-run", []any{true}, "/dry-run must be true or false, not a list"},
		"its no- form":                  {"no-dry-run", []any{"true"}, "/no-dry-run must be true or false, not a list"},
		"no boolean":                    {"dry-run", []any{}, "/dry-run must be true or false, not a list"},
		"a number in a list of domains": {"domain-filter", []any{"a.example", json.Number("5")}, "/domain-filter/1 must be text, not a number; give a domain in quotes"},
		"true in a list of domains":     {"domain-filter", []any{true}, "/domain-filter/0 must be text, not true or false; give a domain in quotes"},
		"true for a domain":             {"domain-filter", true, "/domain-filter must be text, not true or false; give a domain in quotes"},
		"a number for a zone":           {"rfc2136-zone", 10.0, "/rfc2136-zone must be text, not a number; give a zone in quotes"},
		"a boolean":                     {"dry-run", true, ""},
		"a word for a boolean":          {"rfc2136-tsig-axfr", "axfr", ""},
		"a list of one":                 {"interval", []any{"30s"}, ""},
		"a number where one belongs":    {"aws-api-retries", []any{json.Number("3")}, ""},
		"nothing":                       {"domain-filter", nil, ""},
		"unknown":                       {"nobody-knows", []any{true}, ""},
	} {
		found := Mistyped(Parameters{c.parameter: c.value})
		if c.want == "" {
			assert.Empty(t, found, reason)
			continue
		}
		require.Len(t, found, 1, reason)
		assert.Equal(t, c.want, found[0].Pointer+" "+found[0].Detail, reason)
	}
}

// TestWhatIsStoredInAWrongTypeIsRendered, as it was when it was written.
func TestWhatIsStoredInAWrongTypeIsRendered(t *testing.T) {
	arguments, findings := Compile(options(coredns(Parameters{"dry-run": []any{true}, "domain-filter": []any{json.Number("5")}})))
	require.Empty(t, findings)
	assert.Subset(t, arguments.Args, []string{"--dry-run", "--domain-filter=5"})
}
