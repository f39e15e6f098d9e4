package api

import (
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/pkg/access"
)

// operation is one operation of the document, ready to be called.
type operation struct {
	id         string
	kind       load
	public     bool // needs no token
	pages      bool // answers a page of a list
	relieves   bool // takes something away, which is how there comes to be room again
	role       access.Role
	anyQuery   bool                  // does not look at the query
	parameters []*openapi3.Parameter // of the path and of the query
	body       *openapi3.Schema      // nil: takes none
	media      []string              // of the body, JSON first
	handle     handler
}

// newOperation reads what the edge needs of an operation's description.
func newOperation(doc *openapi3.T, route, method string, handle handler) (*operation, error) {
	described := doc.Paths.Value(route).GetOperation(method)
	op := &operation{id: described.OperationID, kind: kindOfLoad(route, method), relieves: relieves(route, method), handle: handle}
	op.anyQuery = described.Responses.Status(http.StatusBadRequest) == nil // it cannot say what is wrong with it
	if described.Security != nil && len(*described.Security) == 0 {
		op.public = true
	} else {
		name, _ := described.Extensions["x-role"].(string)
		parsed, ok := access.ParseRole(name)
		if !ok {
			return nil, fmt.Errorf("api: operation %s has no x-role", op.id)
		}
		op.role = parsed
	}
	for _, list := range []openapi3.Parameters{doc.Paths.Value(route).Parameters, described.Parameters} {
		for _, ref := range list {
			if ref.Value.In != openapi3.ParameterInHeader {
				op.parameters = append(op.parameters, ref.Value)
				op.pages = op.pages || ref.Value.Name == "limit"
			}
		}
	}
	if described.RequestBody != nil {
		content := described.RequestBody.Value.Content
		if content[mediaJSON] == nil {
			return nil, fmt.Errorf("api: operation %s takes no JSON", op.id)
		}
		op.body, op.media = content[mediaJSON].Schema.Value, []string{mediaJSON}
		if content[mediaYAML] != nil {
			op.media = append(op.media, mediaYAML)
		}
	}
	return op, nil
}
