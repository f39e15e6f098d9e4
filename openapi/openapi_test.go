package openapi_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/openapi"
)

func TestTheDescriptionIsValidWithItsExamples(t *testing.T) {
	doc, err := openapi.Load()
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()))
}

func TestTheDescriptionSpeaksOfNothingThatItsReadersLack(t *testing.T) {
	require.NotRegexp(t, `(?i)\bseeds?\b`, string(openapi.YAML()))
}
