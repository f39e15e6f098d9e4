package terminal

import (
	"errors"
	"fmt"
)

// usageError says that the command line or the configuration is wrong.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef makes an error of usage.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// AsUsageError makes an error one of usage.
func AsUsageError(err error) error { return usageError{err} }

// AsTimeoutError makes an error one of a wait that was in vain.
func AsTimeoutError(err error) error { return TimeoutError{err} }

// IsUsage says whether the command line or the configuration is wrong.
func IsUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage)
}

// ChangesError says that a plan would change something. That is a result, and no failure.
type ChangesError struct{}

// Error tells the result.
func (ChangesError) Error() string { return "something would change" }

// TimeoutError says that what a command waited for did not happen in time.
type TimeoutError struct{ error }
