package ssa

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// requests counts what is asked of an API server, watches and the worker's
// probes of the cluster's identity aside.
type requests struct {
	mu      sync.Mutex
	all     int
	patches int            // that were answered well
	target  int            // the number of patches that is waited for
	arrived chan time.Time // gets the time when it is reached
}

// counted is the configuration of a client whose requests are counted.
func counted(server *kube.Server) (*rest.Config, *requests) {
	config, r := server.Config(), &requests{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(request *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(request)
			r.note(request, err == nil && answer.StatusCode < http.StatusMultipleChoices)
			return answer, err
		})
	})
	return config, r
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

func (r *requests) note(request *http.Request, good bool) {
	if request.URL.Query().Get("watch") != "" || request.URL.Path == "/api/v1/namespaces/kube-system" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all++
	if request.Method != http.MethodPatch || !good {
		return
	}
	r.patches++
	if r.patches == r.target {
		r.arrived <- time.Now()
	}
}

// await tells when so many more patches have been answered.
func (r *requests) await(more int) <-chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target, r.arrived = r.patches+more, make(chan time.Time, 1)
	return r.arrived
}

func (r *requests) total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// perObject tells how many requests something sends for each object.
func (r *requests) perObject(b *testing.B, do func()) float64 {
	b.Helper()
	before := r.total()
	do()
	return float64(r.total()-before) / objects
}
