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
	"github.com/signpost-dns/signpost/pkg/access/throttle"
)

// edge answers requests.
type edge struct {
	Options
	metrics *metrics
	places  places
	bytes   *throttle.Bytes
	ready   lately
	lost    string // what is said of paths that there are not
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
	if err := options.check(); err != nil {
		return nil, err
	}
	doc, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	e, err := newEdge(options, "there is no such path; GET /v2/openapi.yaml tells which there are")
	if err != nil {
		return nil, err
	}
	return e.serving(doc, doc.Paths.InMatchingOrder(), e.handlers())
}

// NewProbes builds the handler of a process that accepts no requests: /healthz,
// /readyz, /version and /metrics, as New has them. Store, Admitter, Sealer,
// Lifecycle, Clusters and Corefiles are not needed.
func NewProbes(options Options) (http.Handler, error) {
	doc, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	e, err := newEdge(options, "this process is a worker and accepts no requests (--role worker); ask one whose role is api or all")
	if err != nil {
		return nil, err
	}
	return e.serving(doc, []string{"/healthz", "/readyz", "/version", "/metrics"}, e.probes())
}

func newEdge(options Options, lost string) (*edge, error) {
	options = options.complete()
	metrics, err := newMetrics(options.Metrics)
	return &edge{Options: options, metrics: metrics, places: options.places(), bytes: throttle.NewBytes(options.MaxBytes, turn), lost: lost}, err
}

// serving is the handler of some paths of the document.
func (e *edge) serving(doc *openapi3.T, paths []string, handlers map[string]handler) (http.Handler, error) {
	router, err := e.router(doc, paths, handlers)
	if err != nil {
		return nil, err
	}
	return e.observed(e.recovered(e.ownPages(canonical(router)))), nil
}

// router has one route for each path.
func (e *edge) router(doc *openapi3.T, paths []string, handlers map[string]handler) (*mux.Router, error) {
	router := mux.NewRouter().UseEncodedPath().SkipClean(true)
	router.NotFoundHandler = http.HandlerFunc(e.noRoute)
	for _, template := range paths {
		methods := map[string]*operation{}
		for method, described := range doc.Paths.Value(template).Operations() {
			handle, ok := handlers[described.OperationID]
			if !ok {
				return nil, fmt.Errorf("api: no handler for operation %s", described.OperationID)
			}
			delete(handlers, described.OperationID)
			op, err := newOperation(doc, template, method, handle)
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
