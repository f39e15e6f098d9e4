package cluster

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/trail"
)

// TestRequestsSayWhichTraceTheyBelongTo: those that belong to one.
func TestRequestsSayWhichTraceTheyBelongTo(t *testing.T) {
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Values("traceparent")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	target, err := NewKubernetes(&rest.Config{Host: server.URL}, Options{})
	require.NoError(t, err)
	defer target.Close()
	for _, c := range []struct {
		within func(context.Context) context.Context
		sent   []string
	}{
		{func(ctx context.Context) context.Context { return ctx }, nil},
		{func(ctx context.Context) context.Context { return trail.Follow(ctx, trace) }, []string{trace}},
		{func(ctx context.Context) context.Context { return ctx }, nil},
	} {
		_, err := target.Identity(c.within(t.Context()))
		require.Error(t, err)
		require.Equal(t, c.sent, sent)
	}
}
