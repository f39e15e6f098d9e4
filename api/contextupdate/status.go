package contextupdate

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// codeOf is the one place where codes become gRPC statuses; Unknown for a code
// that none stands for. Unimplemented is not among them: EMCO takes it for a
// controller that need not be asked.
func codeOf(code intent.Code) codes.Code {
	switch code {
	case intent.Invalid, intent.UnsupportedMedia:
		return codes.InvalidArgument
	case intent.Unauthenticated:
		return codes.Unauthenticated
	case intent.Forbidden:
		return codes.PermissionDenied
	case intent.NotFound:
		return codes.NotFound
	case intent.Conflict:
		return codes.FailedPrecondition
	case intent.PreconditionFailed:
		return codes.Aborted
	case intent.TooLarge, intent.TooMany:
		return codes.ResourceExhausted
	case intent.Unavailable:
		return codes.Unavailable
	}
	return codes.Unknown
}

// late is a call that was given up before it was done.
type late struct {
	after time.Duration
	err   error // what the work answered; nil when it has not ended
}

func (e *late) Error() string {
	if e.err == nil {
		return e.text()
	}
	return e.text() + ": " + e.err.Error()
}

func (e *late) Unwrap() error { return e.err }

// text is what the caller is told.
func (e *late) text() string {
	text := "could not be done in time and was given up after " + e.after.Round(time.Millisecond).String()
	var reason *intent.Error
	switch {
	case e.err == nil:
		text += ", though it has not ended yet"
	case errors.As(e.err, &reason):
		text += ": " + textOf(reason)
	}
	return text + "; the call may be repeated"
}

// refusal is an error as the caller is told, with the cause for the log.
type refusal struct {
	status *status.Status
	cause  error
}

// refuse turns an error into the answer for the caller. An error that the caller cannot
// act on is an internal error without details.
func refuse(err error, requestID string) *refusal {
	var tooLate *late
	var e *intent.Error
	code, text := codes.Internal, "an internal error; the server's log tells more under the request's id "+requestID
	switch {
	case errors.As(err, &tooLate):
		code, text = codes.DeadlineExceeded, tooLate.text()
	case errors.As(err, &e) && codeOf(e.Code) != codes.Unknown:
		code, text = codeOf(e.Code), textOf(e)
	case errors.Is(err, context.Canceled):
		code, text = codes.Canceled, "the caller has hung up"
	}
	return &refusal{status: status.New(code, plain(text)), cause: err}
}

func (r *refusal) Error() string { return r.cause.Error() }

// Unwrap gives the cause.
func (r *refusal) Unwrap() error { return r.cause }

// GRPCStatus is what gRPC sends.
func (r *refusal) GRPCStatus() *status.Status { return r.status }

// textOf is an error's text without its cause, which may tell what is none of
// the caller's business.
func textOf(e *intent.Error) string {
	parts := []string{e.Detail}
	for _, field := range e.Fields {
		parts = append(parts, strings.TrimPrefix(field.Pointer+": "+field.Detail, ": "))
	}
	return strings.Join(parts, "; ")
}

var notImplemented = regexp.MustCompile(`(?i)not(\s+)implemented`)

// plain makes a text fit for EMCO and for the header that it travels in. EMCO
// takes any error whose text says that TerminateAppContext or PostEvent is "not
// implemented" for a success.
func plain(text string) string {
	const longest = 4 << 10
	text = strings.ToValidUTF8(notImplemented.ReplaceAllString(text, "not${1}supported"), "�")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
