package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/signpost-dns/signpost/api/actions"
	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/names"
	"github.com/signpost-dns/signpost/api/requestinfo"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// requestTimeout is when a request is given up, with 503.
const requestTimeout = 30 * time.Second

// observed gives each request an id and a deadline, and logs and measures it.
func (e *edge) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		info := &requestinfo.Info{ID: requestID(r.Header.Get("X-Request-ID"))}
		ctx := tracing.With(requestinfo.With(r.Context(), info), "requestID", info.ID)
		limit := requestTimeout
		if r.URL.Query().Has("wait") {
			limit += names.LongestWait
		}
		if r.URL.Query().Get("follow") == "true" {
			limit = actions.LongestStream
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		w.Header().Set("X-Request-ID", info.ID)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		defer ask(e.connections, w, r)()
		e.metrics.inFlight.Inc()
		defer e.metrics.inFlight.Dec()
		counted := &recorder{ResponseWriter: w}
		next.ServeHTTP(counted, r.WithContext(ctx))
		took := time.Since(began)
		e.metrics.observe(info.Route, r.Method, counted.status, took)
		e.log.LogAttrs(tracing.With(ctx, "trace", info.Trace), slog.LevelInfo, "request",
			slog.String("method", r.Method), slog.String("path", jsonbody.Clip(r.URL.Path)),
			slog.Int("status", counted.status), slog.Int64("bytes", counted.bytes),
			slog.Duration("took", took), slog.String("actor", info.Actor))
	})
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
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (r *recorder) Write(p []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
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
			e.log.ErrorContext(r.Context(), "panic",
				slog.Any("reason", reason), slog.String("stack", string(debug.Stack())))
			if counted, ok := w.(*recorder); ok && counted.status != 0 {
				panic(http.ErrAbortHandler) // half an answer must not look whole
			}
			e.response.Problem(w, r, response.ProblemOf(nil))
		}()
		next.ServeHTTP(w, r)
	})
}
