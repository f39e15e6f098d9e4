package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The command line judges a body as a server does.
func TestShapeIsThatOfARequest(t *testing.T) {
	t.Parallel()
	body, err := operation.Shape("previewPodDNSIntent", []byte(`{"spec":{"dnsPolicy":"Default"}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"spec":{"dnsPolicy":"Default"}}`, string(body))
	_, err = operation.Shape("previewPodDNSIntent", []byte(`{"spec":{"dnsPolicy":"Default"},"nam":"web"}`))
	var invalid *intent.Error
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, intent.Invalid, invalid.Code)
	require.Equal(t, "/nam", invalid.Fields[0].Pointer)
	_, err = operation.Shape("noOperation", nil)
	require.EqualError(t, err, "api: openapi.yaml has no operation noOperation")
}
