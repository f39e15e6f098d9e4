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
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/gorilla/mux"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/admit"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/status"
	"github.com/signpost-dns/signpost/pkg/store/etcd"
	"github.com/signpost-dns/signpost/test/bench/compare"
)

// BenchmarkValidatedPut changes a record by PUT through the API, beside a
// handler that does the same work and trusts its requests: it routes, admits,
// stores and answers alike, but judges nothing by openapi.yaml, counts nothing
// and logs nothing. What lies between them is therefore more than validation.
// The third is that handler behind kin-openapi's own request validation, as
// its middlewares do it.
func BenchmarkValidatedPut(b *testing.B) {
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
	names := []string{"api", "bare", "stock"}
	handlers := []http.Handler{r.validating(b), r.trusting(), stock(b, r.trusting())}
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
	for n, handler := range handlers {
		b.ReportMetric(r.allocations(b, handler), names[n]+"-allocs")
	}
}

// records is what both handlers work on.
type records struct {
	documents intent.Store
	admitter  *admit.Admitter
	lifecycle lifecycle
	written   int
}

func newRecords(b *testing.B, documents intent.Store, service *release.Service) *records {
	b.Helper()
	write(b, documents, shop())
	admitter := admit.New(documents, admit.Rules{})
	return &records{documents: documents, admitter: admitter, lifecycle: lifecycle{service, admitter}}
}

// validating is the API.
func (r *records) validating(b *testing.B) http.Handler {
	b.Helper()
	handler, err := api.New(api.Options{
		Store: r.documents, Admitter: r.admitter, Sealer: noSecrets{}, Lifecycle: r.lifecycle, Clusters: struct{ api.Clusters }{},
		Log: slog.New(slog.DiscardHandler),
	})
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

// stock judges requests as kin-openapi comes, and hands on the good ones.
func stock(b *testing.B, next http.Handler) http.Handler {
	b.Helper()
	doc, err := openapi.Load()
	require.NoError(b, err)
	routes, err := gorillamux.NewRouter(doc)
	require.NoError(b, err)
	options := &openapi3filter.Options{MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
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
	view, err := r.admitter.View(stored)
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
func (r *records) request(b *testing.B) *http.Request {
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
func (r *records) put(b *testing.B, handler http.Handler, request *http.Request) time.Duration {
	b.Helper()
	recorder := httptest.NewRecorder()
	began := time.Now()
	handler.ServeHTTP(recorder, request)
	took := time.Since(began)
	require.Equal(b, http.StatusOK, recorder.Code, "%s", recorder.Body)
	return took
}

// allocations tells how often a handler allocates for one request.
func (r *records) allocations(b *testing.B, handler http.Handler) float64 {
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

// lifecycle answers statuses as the server does.
type lifecycle struct {
	*release.Service
	admitter *admit.Admitter
}

// Status implements api.Lifecycle.
func (l lifecycle) Status(ctx context.Context, group intent.Path) (intent.Status, error) {
	snapshot, err := l.Snapshot(ctx, group)
	return status.Of(snapshot), err
}

// RecordStatus implements api.Lifecycle.
func (l lifecycle) RecordStatus(ctx context.Context, record intent.Path) (intent.RecordStatus, error) {
	snapshot, err := l.RecordSnapshot(ctx, record)
	if err != nil {
		return intent.RecordStatus{}, err
	}
	return status.OfRecord(snapshot, l.admitter.RecordWarnings(lab())), nil
}
