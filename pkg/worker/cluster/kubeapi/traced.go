package kubeapi

import (
	"net/http"

	"github.com/signpost-dns/signpost/pkg/tracing"
)

// traced is a transport whose requests say which trace they belong to, as W3C's
// trace context has it. An API server that traces goes on with it.
type traced struct{ http.RoundTripper }

func (t traced) RoundTrip(request *http.Request) (*http.Response, error) {
	if parent := tracing.Parent(request.Context()); parent != "" {
		request = request.Clone(request.Context())
		request.Header.Set("traceparent", parent)
	}
	return t.RoundTripper.RoundTrip(request)
}

// WrappedRoundTripper implements net.RoundTripperWrapper of Kubernetes: by it, Close
// finds the connections that are to be closed.
func (t traced) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
