package openapi_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/domain/address"
)

func TestTheDescriptionIsValidWithItsExamples(t *testing.T) {
	doc, err := openapi.Load()
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()))
}

func TestTheDescriptionHasEveryKindOfAddress(t *testing.T) {
	doc, err := openapi.Load()
	require.NoError(t, err)
	var described []address.Kind
	for _, kind := range doc.Components.Schemas["AddressKind"].Value.Enum {
		described = append(described, address.Kind(kind.(string)))
	}
	require.ElementsMatch(t, address.Kinds(), described)
}

func TestTheDescriptionSpeaksOfNothingThatItsReadersLack(t *testing.T) {
	require.NotRegexp(t, `(?i)\bseeds?\b`, string(openapi.YAML()))
}
