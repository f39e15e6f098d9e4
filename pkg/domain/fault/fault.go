// Package fault has the error of a request to a server outside: an API server, a DNS server,
// or what keeps names for one.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what kind of failure an Error is, and with that what to do next.
type Kind string

// The kinds that all servers share. Others belong to the packages that speak to the servers.
const (
	Stale       Kind = "stale"       // what is to change has another version by now, or is gone; look again
	Refused     Kind = "refused"     // the server understood and says no: asking again will not help soon
	Unreachable Kind = "unreachable" // no answer, or one that says to try later
)

// Error is a failed request.
type Error struct {
	Fault   Kind
	Code    int    // HTTP status; 0 without an answer, or if the server does not speak HTTP
	Message string // free of secrets, and the same for the same cause
	Err     error  // the cause, if any
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Of is the kind of the first Error in err's chain; Unreachable for any other failure,
// empty for nil.
func Of(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fault
	}
	return Unreachable
}

// Errorf makes an Error; its cause is the first error among the arguments.
func Errorf(kind Kind, format string, args ...any) *Error {
	e := &Error{Fault: kind, Message: fmt.Errorf(format, args...).Error()}
	for _, arg := range args {
		if err, ok := arg.(error); ok && e.Err == nil {
			e.Err = err
		}
	}
	return e
}
