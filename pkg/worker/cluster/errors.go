package cluster

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// ErrUnreadable is why a watch has ended that sent what is no event, or too large.
var ErrUnreadable = errors.New("unreadable")

// Beyond tells whether a cluster has answered what is too much, or what cannot be
// read.
func Beyond(err error) bool {
	var excess *bounded.Excess
	return errors.As(err, &excess) || errors.Is(err, ErrUnreadable)
}

// The faults that only clusters have. They are beside those of all servers.
const (
	Exists      fault.Kind = "exists"       // Create: there is an object of that name; look whose it is
	NotServed   fault.Kind = "not served"   // the cluster does not know the kind (yet)
	NoNamespace fault.Kind = "no namespace" // the object's namespace is absent or being deleted
)

// CodeOf is the HTTP status in err's chain, 200 for nil, 0 for none.
func CodeOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Code
	}
	return 0
}

// Refuse is the error of an object that no cluster can take.
func Refuse(message string) *fault.Error { return &fault.Error{Fault: fault.Refused, Message: message} }

// Verb is what a failed request was about: the same answer of an API
// server means different things for different verbs.
type Verb int

// The kinds of requests to a cluster, which decide how errors are read.
const (
	Reading Verb = iota
	Creating
	Applying
	Deleting
)

// Classify turns what client-go answers into a *fault.Error.
func Classify(err error, v Verb) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return &fault.Error{Fault: fault.Unreachable, Message: transport(err), Err: err}
	}
	s := status.Status()
	return &fault.Error{Fault: faultOf(err, s, v), Code: int(s.Code), Message: s.Message, Err: err}
}

func faultOf(err error, s metav1.Status, v Verb) fault.Kind {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return NoNamespace
	case s.Code == http.StatusConflict && v == Creating:
		return Exists
	case s.Code == http.StatusConflict:
		return fault.Stale
	case s.Code == http.StatusNotFound && (v == Creating || v == Applying) && s.Details != nil && s.Details.Kind == "namespaces":
		return NoNamespace
	case s.Code == http.StatusNotFound && v == Deleting:
		return fault.Stale
	case s.Code == http.StatusNotFound:
		return NotServed
	case s.Code == http.StatusUnauthorized, s.Code == http.StatusRequestTimeout,
		s.Code == http.StatusTooManyRequests, s.Code >= http.StatusInternalServerError:
		return fault.Unreachable
	}
	return fault.Refused
}

// transport says why there was no answer, in words that do not change from one attempt to
// the next. Addresses and ports of our side do.
func transport(err error) string {
	if excess := (*bounded.Excess)(nil); errors.As(err, &excess) {
		return excess.Error() + "; if the cluster is that large, and not broken, raise --cluster-memory"
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "the request was given up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return "no such host: " + lookup.Name
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Err != nil {
		return operation.Op + ": " + operation.Err.Error()
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "no answer in time"
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err.Error()
	}
	return strings.TrimSpace(err.Error())
}
