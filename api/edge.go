package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gorilla/mux"

	"github.com/signpost-dns/signpost/openapi"
)

// edge answers requests.
type edge struct {
	Options
	metrics *metrics
	slots   chan struct{} // one for each request that may be under way
}

// answer is what a handler has to say. A nil body is none.
type answer struct {
	status int
	header http.Header
	body   any    // written as JSON
	text   []byte // written as it is instead of body, with the header's Content-Type
}

// handler answers one operation. Its errors become problems.
type handler func(ctx context.Context, c *call) (answer, error)

// New builds the handler of the whole API. It fails when openapi.yaml and the
// handlers do not fit each other, or when a required option is missing.
func New(options Options) (http.Handler, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	doc, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	e := &edge{Options: options, slots: make(chan struct{}, options.MaxInFlight)}
	if e.metrics, err = newMetrics(options.Metrics); err != nil {
		return nil, err
	}
	router, err := e.router(doc)
	if err != nil {
		return nil, err
	}
	return e.observed(e.recovered(e.limited(canonical(router)))), nil
}

// router has one route for each path of the document.
func (e *edge) router(doc *openapi3.T) (*mux.Router, error) {
	handlers := e.handlers()
	router := mux.NewRouter().UseEncodedPath().SkipClean(true)
	router.NotFoundHandler = http.HandlerFunc(e.noRoute)
	for _, template := range doc.Paths.InMatchingOrder() {
		methods := map[string]*operation{}
		for method, described := range doc.Paths.Value(template).Operations() {
			handle, ok := handlers[described.OperationID]
			if !ok {
				return nil, fmt.Errorf("api: no handler for operation %s", described.OperationID)
			}
			delete(handlers, described.OperationID)
			op, err := newOperation(doc, template, described, handle)
			if err != nil {
				return nil, err
			}
			methods[method] = op
		}
		router.Handle(template, e.dispatch(template, methods))
	}
	for id := range handlers {
		return nil, fmt.Errorf("api: openapi.yaml has no operation %s", id)
	}
	return router, nil
}

// canonical lets a trailing slash and the seed's /v2/project go the same way
// as /v2/projects, without a redirect.
func canonical(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		escaped := r.URL.EscapedPath() // an escaped slash is none
		if path := canonicalPath(escaped); path != escaped {
			target := *r.URL
			target.RawPath = path
			target.Path, _ = url.PathUnescape(path) // it could be unescaped before
			r = r.WithContext(r.Context())
			r.URL = &target
		}
		next.ServeHTTP(w, r)
	})
}

func canonicalPath(path string) string {
	const seed, plural = "/v2/project", "/v2/projects"
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == seed || strings.HasPrefix(path, seed+"/") {
		return plural + strings.TrimPrefix(path, seed)
	}
	return path
}
