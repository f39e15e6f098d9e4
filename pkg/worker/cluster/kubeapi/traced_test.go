package kubeapi

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/tracing"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// TestRequestsSayWhichTraceTheyBelongTo: those that belong to one.
func TestRequestsSayWhichTraceTheyBelongTo(t *testing.T) {
	t.Parallel()
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Values("traceparent")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	target, err := NewKubernetes(&rest.Config{Host: server.URL}, cluster.Options{})
	require.NoError(t, err)
	defer target.Close()
	for _, c := range []struct {
		within func(context.Context) context.Context
		sent   []string
	}{
		{func(ctx context.Context) context.Context { return ctx }, nil},
		{func(ctx context.Context) context.Context { return tracing.Follow(ctx, trace) }, []string{trace}},
		{func(ctx context.Context) context.Context { return ctx }, nil},
	} {
		_, err := target.Identity(c.within(t.Context()))
		require.Error(t, err)
		require.Equal(t, c.sent, sent)
	}
}

// TestCloseEndsConnections: those that are idle, as after a plan's look at a cluster.
func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	var once sync.Once
	ended := make(chan struct{})
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			once.Do(func() { close(ended) })
		}
	}
	server.Start()
	defer server.Close()
	target, err := NewKubernetes(&rest.Config{Host: server.URL}, cluster.Options{})
	require.NoError(t, err)
	_, err = target.Identity(t.Context())
	require.Error(t, err)
	target.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		require.FailNow(t, "the connection stays")
	}
}

// TestAConnectionThatCannotBeMadeSaysNoPassword (I9): as with data that is no
// certificate.
func TestAConnectionThatCannotBeMadeSaysNoPassword(t *testing.T) {
	t.Parallel()
	_, err := NewKubernetes(&rest.Config{Host: "https://me:s3cr3t@hub.example", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("no PEM")}}, cluster.Options{})
	require.ErrorContains(t, err, "connect to https://me:xxxxx@hub.example")
	require.NotContains(t, err.Error(), "s3cr3t")
}
