package operation

import (
	"fmt"

	"github.com/signpost-dns/signpost/openapi"
)

// Shape validates a JSON body for an operation of openapi.yaml, as it would be
// validated in a request. It returns the body without the fields that the server adds
// to documents. Its errors are *intent.Error values, Invalid.
func Shape(operationID string, raw []byte) ([]byte, error) {
	doc, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	for _, item := range doc.Paths.Map() {
		for _, described := range item.Operations() {
			if described.OperationID == operationID {
				_, body, err := parseBody(raw, described.RequestBody.Value.Content[mediaJSON].Schema.Value)
				return body, err
			}
		}
	}
	return nil, fmt.Errorf("api: openapi.yaml has no operation %s", operationID)
}
