package intent

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Code says what kind of failure an Error is. Each code maps to one HTTP and
// one gRPC status, in one place per edge.
type Code string

// The codes.
const (
	Invalid            Code = "invalid"             // the input is wrong: 400
	Unauthenticated    Code = "unauthenticated"     // no or an unknown token: 401
	Forbidden          Code = "forbidden"           // the subject lacks the right: 403
	NotFound           Code = "not found"           // the document or its parent does not exist: 404
	Conflict           Code = "conflict"            // the state of other documents forbids it: 409
	Gone               Code = "gone"                // it was there, and is not kept any more: 410
	PreconditionFailed Code = "precondition failed" // If-Match, If-None-Match or a plan token: 412
	TooLarge           Code = "too large"           // the body exceeds its limit: 413
	UnsupportedMedia   Code = "unsupported media"   // the content type is not JSON: 415
	TooMany            Code = "too many"            // the subject asks more often than it may: 429
	Unavailable        Code = "unavailable"         // a dependency does not answer: 503
)

// Field is one thing wrong with a body.
type Field struct {
	Pointer string `json:"pointer"` // JSON pointer into the body, "" for the whole of it
	Detail  string `json:"detail"`  // what is wrong and what would be right
}

// Error is a failure that the user can act on. All other errors that reach an edge are
// internal errors.
type Error struct {
	Code   Code
	Detail string
	Fields []Field // all that is wrong with the body, when Code is Invalid or Conflict
	Err    error   // the cause, if any

	Plan json.RawMessage // what would be done, where it has to be confirmed; nil: nothing to confirm

	RetryAfter time.Duration // how long to wait before another try, when Code is TooMany or Unavailable; 0: a second
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Detail)
	for _, f := range e.Fields {
		b.WriteString("; ")
		b.WriteString(f.Pointer)
		b.WriteString(": ")
		b.WriteString(f.Detail)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of the first Error in err's chain, empty when there is
// none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// ErrNotFound is what a Store answers for a document that does not exist.
func ErrNotFound(p Path) error {
	return &Error{Code: NotFound, Detail: string(p) + " does not exist"}
}

// ErrExists is what a Store answers when a document must not exist but does.
func ErrExists(p Path) error {
	return &Error{Code: Conflict, Detail: string(p) + " exists already"}
}

// MissingReference is the cause of a Conflict: From may not be stored because
// To, to which it refers, does not exist or is being deleted.
type MissingReference struct{ From, To Path }

func (e *MissingReference) Error() string {
	return string(e.From) + " refers to " + string(e.To) + ", which does not exist"
}

// Referenced is the cause of a Conflict: Path may not be deleted because the
// documents of By refer to it. By is not empty and in order.
type Referenced struct {
	Path Path
	By   []Path
}

func (e *Referenced) Error() string {
	names := make([]string, len(e.By))
	for i, p := range e.By {
		names[i] = string(p)
	}
	return string(e.Path) + " is referenced by " + strings.Join(names, ", ")
}

func errRevision(p Path, want, have int64) error {
	detail := string(p) + " is at revision " + strconv.FormatInt(have, 10) + ", not " + strconv.FormatInt(want, 10)
	if have == 0 {
		detail = string(p) + " does not exist, so it is not at revision " + strconv.FormatInt(want, 10)
	}
	return &Error{Code: PreconditionFailed, Detail: detail}
}
