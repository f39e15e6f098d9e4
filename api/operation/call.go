// Package operation reads requests as the operations of openapi.yaml: their
// parameters, bodies and preconditions.
package operation

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

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
