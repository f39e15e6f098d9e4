package cluster_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// TestTheProbeOfASilentClusterEnds checks that the probe gives up by itself, well
// within the time of a request.
func TestTheProbeOfASilentClusterEnds(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: silent.URL}, cluster.Options{})
	require.NoError(t, err)
	defer k.Close()
	ctx, cancel := context.WithTimeout(t.Context(), cluster.RequestDeadline)
	defer cancel()
	_, err = k.Identity(ctx)
	require.Equal(t, fault.Unreachable, fault.Of(err))
	require.NoError(t, ctx.Err(), "it ended by itself")
}
