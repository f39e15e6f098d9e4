package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// problem is an error as it is answered (RFC 9457).
type problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail"`
	Errors    []intent.Field `json:"errors,omitempty"`
	RequestID string         `json:"requestID,omitempty"`

	retryAfter time.Duration // when Status is 429 or 503; 0: a second
}

// statusOf is the one place where codes become HTTP statuses; 0 for a code
// that none stands for.
func statusOf(code intent.Code) int {
	switch code {
	case intent.Invalid:
		return http.StatusBadRequest
	case intent.Unauthenticated:
		return http.StatusUnauthorized
	case intent.Forbidden:
		return http.StatusForbidden
	case intent.NotFound:
		return http.StatusNotFound
	case intent.Conflict:
		return http.StatusConflict
	case intent.TooMany:
		return http.StatusTooManyRequests
	case intent.PreconditionFailed:
		return http.StatusPreconditionFailed
	case intent.TooLarge:
		return http.StatusRequestEntityTooLarge
	case intent.UnsupportedMedia:
		return http.StatusUnsupportedMediaType
	case intent.Unavailable:
		return http.StatusServiceUnavailable
	}
	return 0
}

// problemOf turns an error into what the user is told. What the user cannot
// act on is an internal error without details.
func problemOf(err error) problem {
	var e *intent.Error
	if errors.As(err, &e) {
		if status := statusOf(e.Code); status != 0 {
			return problem{Status: status, Detail: detailOf(e), Errors: told(e.Fields, func(rest string) intent.Field { return intent.Field{Detail: rest} }), retryAfter: e.RetryAfter}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return problem{Status: http.StatusServiceUnavailable, Detail: "the request could not be finished in time; whether it took effect is unknown"}
	}
	return problem{Status: http.StatusInternalServerError, Detail: "an internal error; the server's log tells more under the request's id"}
}

// told are as many errors or warnings as people read, and one of this text, which
// tells how many more there are.
func told[T any](all []T, rest func(text string) T) []T {
	if len(all) <= maxErrors+1 {
		return all
	}
	return append(slices.Clone(all[:maxErrors]), rest(fmt.Sprintf("and %d more", len(all)-maxErrors)))
}

// writeError answers an error; the log gets what the user is not told. That a
// client has hung up is no fault of the server.
func (e *edge) writeError(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		level := slog.LevelError
		if errors.Is(r.Context().Err(), context.Canceled) {
			level = slog.LevelInfo
		}
		e.Log.Log(tracing.With(r.Context(), "trace", noteOf(r.Context()).trace), level, "request failed", slog.Any("error", err))
	}
	e.writeProblem(w, r, p)
}

// writeProblem answers a problem, with the header fields of its status.
func (e *edge) writeProblem(w http.ResponseWriter, r *http.Request, p problem) {
	p.Type, p.Title, p.RequestID = "about:blank", http.StatusText(p.Status), noteOf(r.Context()).id
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", seconds(p.retryAfter))
	}
	if strangers(p.Status) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(refusalTimeout)) // tests' recorders have none
	}
	body, err := encode(p)
	if err != nil { // no field of a problem can fail
		body = nil
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// refusalTimeout is how long a client may take for the answer to what was refused
// before it was looked at: whoever does not read it holds its request.
const refusalTimeout = 5 * time.Second

// strangers tells whether a status is answered before it is known who asks.
func strangers(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest, http.StatusTooManyRequests}, status)
}

// encode is a line of JSON, in which <, > and & are as people read them.
func encode(value any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return line.Bytes(), err
}

// seconds is a wait as Retry-After has it: whole, and one at least.
func seconds(wait time.Duration) string {
	return strconv.FormatInt(int64(max(math.Ceil(wait.Seconds()), 1)), 10)
}

// write answers what a handler said, and gives memory back that its text does not
// take.
func (e *edge) write(w http.ResponseWriter, r *http.Request, a answer, memory *throttle.Taken) {
	if list, ok := a.body.(page); ok {
		memory.Shrink(2 * intent.PageBytes) // of which it is what was read, and a document as text
		e.writePage(w, a.status, list)
		return
	}
	body := a.text
	if a.body != nil {
		var err error
		if body, err = encode(a.body); err != nil {
			e.writeError(w, r, err)
			return
		}
		a.body = nil
		w.Header().Set("Content-Type", "application/json")
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	memory.Shrink(int64(cap(body)))
	if a.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body)
}

// writePage writes a list one item at a time: all of it as text would be as much
// again. What cannot be written ends the connection, for half an answer must not
// look whole.
func (e *edge) writePage(w http.ResponseWriter, status int, list page) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"items":[`)
	for n, item := range list.Items {
		text, err := encode(item)
		if err != nil {
			e.Log.Error("a document cannot be written", "error", err)
			panic(http.ErrAbortHandler)
		}
		if n > 0 {
			_, _ = io.WriteString(w, ",")
		}
		if _, err := w.Write(bytes.TrimSuffix(text, []byte("\n"))); err != nil {
			return // nobody listens any more
		}
	}
	if list.Continue == "" {
		_, _ = io.WriteString(w, "]}\n")
		return
	}
	next, _ := encode(list.Continue) // a text can be encoded
	_, _ = fmt.Fprintf(w, "],\"continue\":%s}\n", bytes.TrimSpace(next))
}

// noRoute answers a path that the API does not have.
func (e *edge) noRoute(w http.ResponseWriter, r *http.Request) {
	detail := e.lost
	if strings.Contains(r.URL.Path, "//") {
		detail = "there is no path with an empty segment"
	}
	e.writeProblem(w, r, problem{Status: http.StatusNotFound, Detail: detail})
}
