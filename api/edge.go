package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gorilla/mux"

	"github.com/signpost-dns/signpost/api/drafts"
	"github.com/signpost-dns/signpost/api/limits"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/resources"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

type edge struct {
	authenticator *access.Authenticator
	connections   *throttle.Connections
	limits        *limits.Limiter
	resources     *resources.Handlers
	response      response.Writer
	metrics       *metrics
	tracer        *tracing.Tracer
	console       http.Handler // nil: none
	log           *slog.Logger
	local         bool   // only requests by this machine's own name are answered
	lost          string // what is said of paths that there are not
}

// New builds the handler of the whole API. The console answers all paths below /ui/, and /
// leads browsers there; nil: there is none. It fails when openapi.yaml and the handlers do
// not fit each other, or when a required option is missing.
func New(options Options, console http.Handler) (http.Handler, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	doc, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	options = options.complete()
	e, err := newEdge(options, "there is no such path; GET /v2/openapi.yaml tells which there are")
	if err != nil {
		return nil, err
	}
	e.console = console
	planned, err := drafts.New(doc, options.Lifecycle.Draft)
	if err != nil {
		return nil, err
	}
	return e.serving(doc, doc.Paths.InMatchingOrder(), options.handlers(e.resources, planned))
}

// NewProbes builds the handler of a process that accepts no requests: /healthz,
// /readyz, /version and /metrics, as New has them. Store, Admitter, Sealer,
// Lifecycle, Clusters and Corefiles are not needed.
func NewProbes(options Options) (http.Handler, error) {
	doc, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	options = options.complete()
	e, err := newEdge(options, "this process is a worker and accepts no requests (--role worker); ask one whose role is api or all")
	if err != nil {
		return nil, err
	}
	return e.serving(doc, []string{"/healthz", "/readyz", "/version", "/metrics"}, options.probes())
}

// newEdge makes the edge of complete options.
func newEdge(o Options, lost string) (*edge, error) {
	metrics, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, err
	}
	return &edge{
		authenticator: o.Authenticator, connections: o.Connections, local: o.Local, lost: lost,
		limits: limits.New(limits.Options{
			MaxBytes: o.MaxBytes, MaxBody: operation.MaxBody, MaxWrites: o.MaxWrites, Buckets: o.Buckets, Scarce: o.Scarce,
			Shed: func(why string) { metrics.shed.WithLabelValues(why).Inc() },
		}),
		resources: o.resources(), response: response.Writer{Log: o.Log}, metrics: metrics, tracer: o.Tracer, log: o.Log,
	}, nil
}

// serving is the handler of some paths of the document.
func (e *edge) serving(doc *openapi3.T, paths []string, handlers map[string]operation.Handler) (http.Handler, error) {
	router, err := e.router(doc, paths, handlers)
	if err != nil {
		return nil, err
	}
	return e.observed(e.recovered(e.ownPages(e.withConsole(canonical(router))))), nil
}

// router has one route for each path.
func (e *edge) router(doc *openapi3.T, paths []string, handlers map[string]operation.Handler) (*mux.Router, error) {
	router := mux.NewRouter().UseEncodedPath().SkipClean(true)
	router.NotFoundHandler = http.HandlerFunc(e.noRoute)
	for _, template := range paths {
		methods := map[string]*operation.Operation{}
		for method, described := range doc.Paths.Value(template).Operations() {
			handle, ok := handlers[described.OperationID]
			if !ok {
				return nil, fmt.Errorf("api: no handler for operation %s", described.OperationID)
			}
			delete(handlers, described.OperationID)
			op, err := operation.New(doc, template, method, handle)
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

// noRoute answers a path that the API does not have.
func (e *edge) noRoute(w http.ResponseWriter, r *http.Request) {
	detail := e.lost
	if strings.Contains(r.URL.Path, "//") {
		detail = "there is no path with an empty segment"
	}
	e.response.Problem(w, r, response.Problem{Status: http.StatusNotFound, Detail: detail})
}
