// Package operation reads requests as the operations of openapi.yaml: their
// parameters, bodies and preconditions.
package operation

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/api/limits"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Operation is one operation of openapi.yaml, ready to be called.
type Operation struct {
	ID       string
	Kind     limits.Kind
	Public   bool // needs no token
	Relieves bool // takes something away, which frees room
	Role     access.Role
	Across   bool // the role in any project is enough; the handler leaves out what the caller may not read
	AnyQuery bool // does not look at the query
	Handle   Handler

	pages      bool                  // answers a page of a list
	parameters []*openapi3.Parameter // of the path and of the query
	body       *openapi3.Schema      // nil: takes none
	media      []string              // of the body, JSON first
}

// New reads the description of an operation.
func New(doc *openapi3.T, route, method string, handle Handler) (*Operation, error) {
	described := doc.Paths.Value(route).GetOperation(method)
	op := &Operation{ID: described.OperationID, Kind: limits.KindOf(route, method), Relieves: limits.Relieves(route, method), Handle: handle}
	op.AnyQuery = described.Responses.Status(http.StatusBadRequest) == nil // it cannot say what is wrong with it
	if described.Security != nil && len(*described.Security) == 0 {
		op.Public = true
	} else {
		name, _ := described.Extensions["x-role"].(string)
		parsed, ok := access.ParseRole(name)
		if !ok {
			return nil, fmt.Errorf("api: operation %s has no x-role", op.ID)
		}
		op.Role, op.Across = parsed, described.Extensions["x-project"] == "any"
	}
	for _, list := range []openapi3.Parameters{doc.Paths.Value(route).Parameters, described.Parameters} {
		for _, ref := range list {
			if ref.Value.In != openapi3.ParameterInHeader {
				op.parameters = append(op.parameters, ref.Value)
				op.pages = op.pages || ref.Value.Name == "limit" && !strings.HasSuffix(route, "/status") // which is no larger than a document
			}
		}
	}
	if described.RequestBody != nil {
		content := described.RequestBody.Value.Content
		if content[mediaJSON] == nil {
			return nil, fmt.Errorf("api: operation %s takes no JSON", op.ID)
		}
		op.body, op.media = content[mediaJSON].Schema.Value, []string{mediaJSON}
		if content[mediaYAML] != nil {
			op.media = append(op.media, mediaYAML)
		}
	}
	return op, nil
}

// Stores reports whether the operation stores its body as a document.
func (op *Operation) Stores() bool { return op.Creates() || strings.HasPrefix(op.ID, "put") }

// Creates reports whether the operation stores its body as a new document.
func (op *Operation) Creates() bool { return strings.HasPrefix(op.ID, "create") }

// Weight estimates the memory of a request, in bytes: a multiple of its body and of
// what it may read, and the body as values.
func (op *Operation) Weight(c *Call, sent Received) int64 {
	const times = 4
	most := int64(intent.MaxBody)
	if op.pages {
		most = min(int64(c.Limit())*most, intent.PageBytes)
	}
	return times*(most+int64(len(sent.raw))) + sent.decoded()
}

// Call is one request to one operation, validated.
type Call struct {
	Path   intent.Path       // the request's path below /v2
	Vars   map[string]string // the path parameters
	Query  url.Values
	Header http.Header
	Actor  intent.Actor   // who asks
	Object map[string]any // the body, decoded; nil when the operation takes none
	Body   []byte         // the body as JSON
}

// Owner returns the document whose action was called: the path without its last
// segment. It is empty at the top.
func (c *Call) Owner() intent.Path {
	return c.Path[:max(strings.LastIndexByte(string(c.Path), '/'), 0)]
}

// Handler answers an operation. Its errors become problems.
type Handler func(ctx context.Context, c *Call) (response.Answer, error)
