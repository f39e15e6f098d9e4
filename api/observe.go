package api

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// note is what is known of a request under way, for the log and the metrics.
// Only the request's own goroutine writes it.
type note struct {
	id    string // of the request
	route string // the path's template; empty when there is none
	actor string
	trace string // that the request belongs to; empty for none
}

type noteKey struct{}

// noteOf is the note of a request's context; an empty one outside of a request.
func noteOf(ctx context.Context) *note {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		return n
	}
	return &note{}
}

// requestTimeout is when a request is given up, with 503.
const requestTimeout = 30 * time.Second

// observed gives each request an id and a deadline, and logs and measures it.
func (e *edge) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		n := &note{id: requestID(r.Header.Get("X-Request-ID"))}
		ctx := tracing.With(context.WithValue(r.Context(), noteKey{}, n), "requestID", n.id)
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		w.Header().Set("X-Request-ID", n.id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		defer ask(e.Connections, w, r)()
		e.metrics.inFlight.Inc()
		defer e.metrics.inFlight.Dec()
		counted := &recorder{ResponseWriter: w}
		next.ServeHTTP(counted, r.WithContext(ctx))
		took := time.Since(began)
		e.metrics.observe(n.route, r.Method, counted.status, took)
		e.Log.LogAttrs(tracing.With(ctx, "trace", n.trace), slog.LevelInfo, "request",
			slog.String("method", r.Method), slog.String("path", jsonbody.Clip(r.URL.Path)),
			slog.Int("status", counted.status), slog.Int64("bytes", counted.bytes),
			slog.Duration("took", took), slog.String("actor", n.actor))
	})
}

// traced handles a call within a span of the trace that the caller has named,
// else of one of its own.
func (e *edge) traced(r *http.Request, op *operation, c *call) (answer, error) {
	n := noteOf(r.Context())
	ctx := tracing.Follow(intent.As(r.Context(), c.actor), r.Header.Get("traceparent"))
	ctx, end := e.Tracer.Start(ctx, r.Method+" "+n.route, "requestID", n.id, "actor", n.actor)
	n.trace = tracing.TraceID(ctx)
	result, err := op.handle(ctx, c)
	end(err)
	return result, err
}

// requestID is the client's id when it is sane, else a new one.
func requestID(given string) string {
	const longest = 64
	if given == "" || len(given) > longest {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
		if !word {
			return rand.Text()
		}
	}
	return given
}

// recorder notes what is answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader notes the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// recovered answers a panic with 500 and logs it.
func (e *edge) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			reason := recover()
			switch reason {
			case nil:
				return
			case http.ErrAbortHandler:
				panic(reason)
			}
			e.Log.ErrorContext(r.Context(), "panic",
				slog.Any("reason", reason), slog.String("stack", string(debug.Stack())))
			if counted, ok := w.(*recorder); ok && counted.status != 0 {
				panic(http.ErrAbortHandler) // half an answer must not look whole
			}
			e.writeProblem(w, r, problemOf(nil))
		}()
		next.ServeHTTP(w, r)
	})
}
