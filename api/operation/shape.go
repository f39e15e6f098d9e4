package operation

import (
	"fmt"

	"github.com/signpost-dns/signpost/openapi"
)

// Shape judges a JSON body for an operation of openapi.yaml by the operation's
// schema, as a request with it is judged, and answers it without what the server
// itself adds to documents. What is wrong is an *intent.Error, Invalid.
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
