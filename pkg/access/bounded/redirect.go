package bounded

import (
	"fmt"
	"net/http"
	"net/url"
)

// Redirect is the error of a request that was answered with a redirect.
type Redirect struct {
	To string // scheme and host; empty: nowhere that could be read
}

// Error implements error.
func (r *Redirect) Error() string {
	if r.To == "" {
		return "the server redirects to another address, which Signpost does not follow; give the final address"
	}
	return "the server redirects to " + r.To + ", which Signpost does not follow; if that is the right address, give it instead"
}

// redirect is the error of an answer that is a redirect, nil for all others.
func redirect(answer *http.Response) error {
	switch answer.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	const longest = 200
	to, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || to.Host == "" || len(to.Host) > longest {
		return &Redirect{}
	}
	return &Redirect{To: fmt.Sprintf("%.8s://%s", to.Scheme, to.Host)}
}

// Straight is a transport that follows no redirect: a redirect is an error, because the
// server would choose where the credentials of the request go.
type Straight struct {
	http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s Straight) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if err := redirect(answer); err != nil {
		_ = answer.Body.Close()
		return nil, err
	}
	return answer, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper of Kubernetes, by which
// connections are found that are to be closed.
func (s Straight) WrappedRoundTripper() http.RoundTripper { return s.RoundTripper }
