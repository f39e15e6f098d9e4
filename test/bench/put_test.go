package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/gorilla/mux"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	contracts "github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/explain"
	"github.com/signpost-dns/signpost/pkg/release/nameindex"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/test/bench/compare"
)

// BenchmarkValidatedPut changes a record by PUT through the API, beside a
// handler that does the same work and trusts its requests: it routes, admits,
// stores and answers alike, but judges nothing by openapi.yaml, counts nothing
// and logs nothing. What lies between them is therefore more than validation.
// The others are that handler behind kin-openapi: "stock" is its middleware as
// it comes, which judges responses, too; "requests" judges requests alone. In
// "edge" nothing is admitted and stored, so that the share of each is seen;
// "beyond-bare" compares what each adds to the bare handler.
func BenchmarkValidatedPut(b *testing.B) {
	b.Run("edge", func(b *testing.B) {
		comparePuts(b, newStill(b), func() {})
	})
	memory := kvtest.NewFake()
	b.Run("memory", func(b *testing.B) {
		comparePuts(b, newRecords(b, etcd.New(memory), releases(etcd.New(memory), memory)), func() {
			require.NoError(b, memory.Compact(b.Context())) // else it keeps all that ever was
		})
	})
	b.Run("etcd", func(b *testing.B) {
		store := embeddedEtcd(b)
		comparePuts(b, newRecords(b, etcd.New(store), releases(etcd.New(store), store)), func() {})
	})
}

func comparePuts(b *testing.B, r *records, clean func()) {
	names := []string{"api", "bare", "stock", "requests"}
	handlers := []http.Handler{r.validating(b), r.trusting(), stock(b, r.trusting()), requests(b, r.trusting())}
	contenders := make([]compare.Contender, len(handlers))
	for n, handler := range handlers {
		contenders[n] = compare.Contender{Name: names[n], Turn: func(b *testing.B) time.Duration {
			clean()
			return r.put(b, handler, r.request(b))
		}}
	}
	times := compare.Run(b, time.Microsecond, contenders...)
	b.ReportMetric(times[0].Ratio(times[1]), "api/bare")
	b.ReportMetric(times[2].Ratio(times[0]), "stock/api")
	b.ReportMetric(times[3].Ratio(times[0]), "requests/api")
	b.ReportMetric(times[2].Beyond(times[1])/times[0].Beyond(times[1]), "stock/api-beyond-bare")
	b.ReportMetric(times[3].Beyond(times[1])/times[0].Beyond(times[1]), "requests/api-beyond-bare")
	for n, handler := range handlers {
		b.ReportMetric(r.allocations(b, handler), names[n]+"-allocs")
	}
}

// records is what all handlers work on.
type records struct {
	documents intent.Store
	admitter  contracts.Admitter
	lifecycle lifecycle
	written   int
}

func newRecords(b testing.TB, documents intent.Store, service *release.Service) *records {
	b.Helper()
	write(b, documents, shop())
	return &records{documents: documents, admitter: admission.New(documents, review.Rules{}), lifecycle: lifecycle{Service: service}}
}

// validating is the API.
func (r *records) validating(b testing.TB) http.Handler {
	b.Helper()
	handler, err := api.New(api.Options{
		Store: r.documents, Admitter: r.admitter, Sealer: noSecrets{}, Lifecycle: r.lifecycle, Clusters: struct{ contracts.Clusters }{}, Corefiles: struct{ contracts.Corefiles }{},
		Log: slog.New(slog.DiscardHandler),
	}, nil)
	require.NoError(b, err)
	return handler
}

// trusting is the bare handler.
func (r *records) trusting() http.Handler {
	router := mux.NewRouter()
	router.Methods(http.MethodPut).Path("/v2/projects/{project}/dns-update-records/{record}").HandlerFunc(
		func(w http.ResponseWriter, request *http.Request) {
			if err := r.answer(w, request); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	return router
}

// stock is kin-openapi's middleware as it comes.
func stock(b testing.TB, next http.Handler) http.Handler {
	b.Helper()
	return openapi3filter.NewValidator(routes(b),
		openapi3filter.ValidationOptions(*judging()),
		openapi3filter.OnLog(func(_ context.Context, message string, err error) { require.NoError(b, err, message) }),
	).Middleware(next)
}

// requests judges as that middleware does, but requests alone.
func requests(b testing.TB, next http.Handler) http.Handler {
	b.Helper()
	routes, options := routes(b), judging()
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		route, parameters, err := routes.FindRoute(request)
		if err == nil {
			err = openapi3filter.ValidateRequest(request.Context(), &openapi3filter.RequestValidationInput{
				Request: request, Route: route, PathParams: parameters, Options: options,
			})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, request)
	})
}

// routes finds operations by gorilla/mux.
func routes(b testing.TB) routers.Router {
	b.Helper()
	doc, err := openapi.Load()
	require.NoError(b, err)
	routes, err := gorillamux.NewRouter(doc)
	require.NoError(b, err)
	return routes
}

// judging has all errors told at once, as the API tells them.
func judging() *openapi3filter.Options {
	return &openapi3filter.Options{MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
}

func (r *records) answer(w http.ResponseWriter, request *http.Request) error {
	ctx, path := request.Context(), intent.Path(strings.TrimPrefix(request.URL.Path, "/v2/"))
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return err
	}
	old, err := r.documents.Get(ctx, path)
	if err != nil {
		return err
	}
	write, err := r.admitter.Admit(ctx, path, body, &old)
	if err != nil {
		return err
	}
	stored, err := r.admitter.Put(ctx, write)
	if err != nil {
		return err
	}
	view, err := r.admitter.View(ctx, stored)
	if err != nil {
		return err
	}
	if _, err = r.lifecycle.RecordStatus(ctx, path); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(view)
}

// request puts another version of the record.
func (r *records) request(b testing.TB) *http.Request {
	b.Helper()
	r.written++
	body, err := json.Marshal(intent.Resource[any]{
		Metadata: intent.Metadata{Name: "lab", Description: fmt.Sprintf("version %d", r.written)}, Spec: lab(),
	})
	require.NoError(b, err)
	request := httptest.NewRequestWithContext(b.Context(), http.MethodPut, "/v2/projects/shop/dns-update-records/lab", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	return request
}

// put sends a request, and tells how long the handler took.
func (r *records) put(b testing.TB, handler http.Handler, request *http.Request) time.Duration {
	b.Helper()
	recorder := httptest.NewRecorder()
	began := time.Now()
	handler.ServeHTTP(recorder, request)
	took := time.Since(began)
	require.Equal(b, http.StatusOK, recorder.Code, "%s", recorder.Body)
	return took
}

// A validated write allocates little, in itself and beside kin-openapi's
// stock middleware over the same handler, which neither logs nor counts.
func TestAValidatedPutAllocatesLittle(t *testing.T) {
	memory := kvtest.NewFake()
	r := newRecords(t, etcd.New(memory), releases(etcd.New(memory), memory))
	bare, own, stock := r.allocations(t, r.trusting()), r.allocations(t, r.validating(t)), r.allocations(t, stock(t, r.trusting()))
	t.Logf("allocations: %.0f by the API, %.0f bare, %.0f with the stock middleware", own, bare, stock)
	require.Less(t, own, 1.6*bare)
	require.Less(t, own, 880.0)
	require.Less(t, own, stock)
}

// allocations tells how often a handler allocates for one request.
func (r *records) allocations(b testing.TB, handler http.Handler) float64 {
	b.Helper()
	const rounds = 100
	var requests []*http.Request
	for range rounds + 1 { // AllocsPerRun warms up once
		requests = append(requests, r.request(b))
	}
	return testing.AllocsPerRun(rounds, func() {
		r.put(b, handler, requests[0])
		requests = requests[1:]
	})
}

// noSecrets is for records without credentials.
type noSecrets struct{}

func (noSecrets) Store(context.Context, intent.Path, string, []byte) (string, error) {
	return "", errors.New("no secret was expected")
}

// lifecycle answers statuses as the server does, or, for what is still, none.
type lifecycle struct {
	*release.Service
	*nameindex.Index
	*explain.Explainer
	still bool
}

// Draft implements contracts.Lifecycle; nothing is planned here that is not stored.
func (lifecycle) Draft() contracts.Draft { return contracts.Draft{} }

// Record implements contracts.Lifecycle; no reads are noted.
func (lifecycle) Record(ctx context.Context) (context.Context, contracts.Reads) { return ctx, nil }

// NameReport implements contracts.Lifecycle.
func (l lifecycle) NameReport(ctx context.Context, name intent.Path) (intent.NameReport, error) {
	snapshot, err := l.Snapshot(ctx, name)
	return status.OfName(snapshot), err
}

// Groups implements contracts.Lifecycle.
func (l lifecycle) Groups(ctx context.Context, project intent.Path, limit int, after string) (intent.GroupSummaryPage, error) {
	page, err := l.ListGroups(ctx, project, limit, after)
	return status.Briefs(page, false), err
}

// Status implements contracts.Lifecycle.
func (l lifecycle) Status(ctx context.Context, group intent.Path) (intent.Status, error) {
	snapshot, err := l.Snapshot(ctx, group)
	return status.Of(snapshot), err
}

// RecordStatus implements contracts.Lifecycle.
func (l lifecycle) RecordStatus(ctx context.Context, record intent.Path) (intent.RecordStatus, error) {
	if l.still {
		return intent.RecordStatus{}, nil
	}
	snapshot, err := l.RecordSnapshot(ctx, record)
	return status.OfRecord(snapshot), err
}
