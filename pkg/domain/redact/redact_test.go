package redact_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/domain/redact"
)

// TestErrorsOfYAMLQuoteNoValue: but tell where it is, and what is wrong.
func TestErrorsOfYAMLQuoteNoValue(t *testing.T) {
	for text, says := range map[string]string{
		"a: *s3cr3t":                "unknown anchor referenced",
		"a: !!int s3cr3t":           "cannot decode !!str a value as a !!int",
		"a: !!int 's3`cr3t'":        "cannot decode !!str a value as a !!int",
		"a: !!int 's3cr3t\n\n t":    "",
		"a: !!int 's3cr3t\n\n t'":   "cannot decode !!str a value as a !!int",
		"a: \"s3cr3t":               "found unexpected end of stream",
		"a: b: s3cr3t":              "mapping values are not allowed",
		"a: @s3cr3t":                "cannot start any token",
		"a: [b, s3cr3t":             "did not find expected ',' or ']'",
		"b: 1\nb: s3cr3t":           `key "b" already set`,
		"a: &s3cr3t *s3cr3t":        "",
		"a:\n\tb: s3cr3t":           "line 2 is indented by a tab, which YAML does not allow: use spaces",
		"a:\n  b: 1\n  \tc: s3cr3t": "line 3 is indented by a tab",
		"a: &s3cr3t [*s3cr3t]":      "contains itself",
	} {
		_, err := yaml.YAMLToJSONStrict([]byte(text))
		require.Error(t, err, text)
		require.Contains(t, redact.YAML([]byte(text), err), says, text)
		require.NotContains(t, redact.YAML([]byte(text), err), "cr3t", text)
	}
}
