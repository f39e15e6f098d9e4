package response

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/signpost-dns/signpost/api/requestinfo"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Answer is what a handler has to say. A nil Body is none.
type Answer struct {
	Status int
	Header http.Header
	Body   any    // written as JSON
	Text   []byte // written as it is instead of Body, with the Content-Type of Header

	// Stream is what is written instead, event by event, once the request has left its place
	// to others; nil: nothing.
	Stream *Stream

	// Await makes the answer that is written instead, once the request has left its
	// place to others; nil: this one is written.
	Await func() Answer
}

// OK is the answer to a question: a body, or an error.
func OK[B any](body B, err error) (Answer, error) {
	return Answer{Status: http.StatusOK, Body: body}, err
}

// Accepted is the answer to a request that has begun something.
func Accepted[B any](body B, err error) (Answer, error) {
	return Answer{Status: http.StatusAccepted, Body: body}, err
}

// Page is a list as it is answered.
type Page struct {
	Items    []review.View `json:"items"`
	Continue string        `json:"continue,omitempty"`
}

// Writer writes answers.
type Writer struct {
	Log *slog.Logger
}

// Error answers an error. The log gets what the user is not told. A client that has
// hung up is no fault of the server.
func (out Writer) Error(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(err)
	if p.Status >= http.StatusInternalServerError {
		level := slog.LevelError
		if errors.Is(r.Context().Err(), context.Canceled) {
			level = slog.LevelInfo
		}
		out.Log.Log(tracing.With(r.Context(), "trace", requestinfo.From(r.Context()).Trace), level, "request failed", slog.Any("error", err))
	}
	out.Problem(w, r, p)
}

// Problem answers a problem, with the header fields of its status.
func (out Writer) Problem(w http.ResponseWriter, r *http.Request, p Problem) {
	p.Type, p.Title, p.RequestID = "about:blank", http.StatusText(p.Status), requestinfo.From(r.Context()).ID
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", seconds(p.retryAfter))
	}
	if unauthenticated(p.Status) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(refusalTimeout)) // tests' recorders have none
	}
	body, err := Encode(p)
	if err != nil { // no field of a problem can fail
		body = nil
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// Encode returns a line of JSON, in which <, > and & are as people read them.
func Encode(value any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return line.Bytes(), err
}

// Answer writes what a handler said, and gives memory back that the text does not
// take.
func (out Writer) Answer(w http.ResponseWriter, r *http.Request, a Answer, memory *throttle.Taken) {
	if list, ok := a.Body.(Page); ok {
		memory.Shrink(2 * intent.PageBytes) // of which it is what was read, and a document as text
		out.page(w, a.Status, list)
		return
	}
	body := a.Text
	if a.Body != nil {
		var err error
		if body, err = Encode(a.Body); err != nil {
			out.Error(w, r, err)
			return
		}
		a.Body = nil
		w.Header().Set("Content-Type", "application/json")
	}
	maps.Copy(w.Header(), a.Header)
	memory.Shrink(int64(cap(body)))
	if a.Status != http.StatusNoContent && a.Status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(body)
}

// page writes a list one item at a time: all of it as text would take as much memory
// again. An item that cannot be written ends the connection, because half an answer
// must not look whole.
func (out Writer) page(w http.ResponseWriter, status int, list Page) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"items":[`)
	for n, item := range list.Items {
		text, err := Encode(item)
		if err != nil {
			out.Log.Error("a document cannot be written", "error", err)
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
	next, _ := Encode(list.Continue) // a text can be encoded
	_, _ = fmt.Fprintf(w, "],\"continue\":%s}\n", bytes.TrimSpace(next))
}
