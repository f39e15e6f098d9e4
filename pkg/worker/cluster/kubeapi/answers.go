package kubeapi

import (
	"mime"
	"net/http"
	"strings"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// answersIn is a transport to an API server that obeys the budget. It follows no
// redirect, and hands over nothing but JSON that has been weighed.
func answersIn(budget *bounded.Budget, by http.RoundTripper) http.RoundTripper {
	return plainly{bounded.Transport{
		RoundTripper: bounded.Straight{RoundTripper: by},
		Most:         budget.Answer(), Budget: budget,
		Stream: func(r *http.Request) bool { return r.URL.Query().Get("watch") != "" },
	}}
}

const mediaJSON = "application/json"

// plainly asks for JSON, and calls all other answers plain text. Otherwise client-go
// would decode any form that the server chooses, with none weighed but JSON.
type plainly struct{ http.RoundTripper }

func (p plainly) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Accept", accepted(request.Header.Get("Accept")))
	answer, err := p.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || media != mediaJSON {
		answer.Header.Set("Content-Type", "text/plain")
	}
	return answer, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper of Kubernetes.
func (p plainly) WrappedRoundTripper() http.RoundTripper { return p.RoundTripper }

// accepted are those forms of an Accept header that are JSON, or else all.
func accepted(header string) string {
	var forms []string
	for form := range strings.SplitSeq(header, ",") {
		if form = strings.TrimSpace(form); strings.HasPrefix(form, mediaJSON) {
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		return header
	}
	return strings.Join(forms, ",")
}

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
