package publisher

import (
	"errors"
	"fmt"
)

// Fault says what kind of failure an Error is, and with that what to do next.
type Fault string

// The faults.
const (
	Stale       Fault = "stale"       // the name has changed since it was read; read it again
	Foreign     Fault = "foreign"     // a set of the name belongs to somebody else; it stays as it is
	Refused     Fault = "refused"     // the server understood and says no: asking again will not help soon
	Forbidden   Fault = "forbidden"   // the address may not be dialled: see --publisher-servers
	Invalid     Fault = "invalid"     // the provider's parameters or the set cannot be published
	Unreachable Fault = "unreachable" // no answer, or one that says to try later
)

// Error is a failed Read or Write.
type Error struct {
	Fault   Fault
	Message string // free of secrets, with the server's own words, and the same for the same cause
	Err     error  // the cause, if any

	// MayHaveHappened tells that a Write was sent and its outcome is not known.
	MayHaveHappened bool
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// FaultOf is the fault of the first Error in err's chain; Unreachable for any other
// failure, empty for nil.
func FaultOf(err error) Fault {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fault
	}
	return Unreachable
}

// Errorf makes an Error of a fault; its cause is the first error among the arguments.
func Errorf(fault Fault, format string, args ...any) *Error {
	e := &Error{Fault: fault, Message: fmt.Errorf(format, args...).Error()}
	for _, arg := range args {
		if err, ok := arg.(error); ok && e.Err == nil {
			e.Err = err
		}
	}
	return e
}
