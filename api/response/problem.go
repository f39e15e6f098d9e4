// Package response writes answers, and errors as problems (RFC 9457).
package response

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/signpost-dns/signpost/api/schema"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Problem is an error as it is answered (RFC 9457).
type Problem struct {
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Status    int             `json:"status"`
	Detail    string          `json:"detail"`
	Errors    []intent.Field  `json:"errors,omitempty"`
	Plan      json.RawMessage `json:"plan,omitempty"` // that has to be confirmed
	RequestID string          `json:"requestID,omitempty"`

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
	case intent.Gone:
		return http.StatusGone
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

// ProblemOf turns an error into what the user is told. An error that the user
// cannot act on is an internal error without details.
func ProblemOf(err error) Problem {
	if e, ok := errors.AsType[*intent.Error](err); ok {
		if status := statusOf(e.Code); status != 0 {
			return Problem{Status: status, Detail: detailOf(e), Errors: Shorten(e.Fields, func(rest string) intent.Field { return intent.Field{Detail: rest} }), Plan: e.Plan, retryAfter: e.RetryAfter}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Problem{Status: http.StatusServiceUnavailable, Detail: "the request could not be finished in time; whether it took effect is unknown"}
	}
	return Problem{Status: http.StatusInternalServerError, Detail: "an internal error; the server's log tells more under the request's id"}
}

// refusalTimeout is how long a client may take to read a refusal. A client that does
// not read keeps its request open.
const refusalTimeout = 5 * time.Second

// unauthenticated tells whether a status may be answered before the caller is known.
func unauthenticated(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest, http.StatusTooManyRequests}, status)
}

// seconds is a wait as Retry-After has it: whole, and one at least.
func seconds(wait time.Duration) string {
	return strconv.FormatInt(int64(max(math.Ceil(wait.Seconds()), 1)), 10)
}

// detailOf is what the user is told of an error, with both ends of a broken
// reference.
func detailOf(e *intent.Error) string {
	if missing, ok := errors.AsType[*intent.MissingReference](e); ok {
		return missing.Error()
	}
	return e.Detail
}

// Shorten returns as many errors or warnings as people read. If there are more, the
// last one is rest, which gets a text that tells how many.
func Shorten[T any](all []T, rest func(text string) T) []T {
	if len(all) <= schema.MaxErrors+1 {
		return all
	}
	return append(slices.Clone(all[:schema.MaxErrors]), rest(fmt.Sprintf("and %d more", len(all)-schema.MaxErrors)))
}
