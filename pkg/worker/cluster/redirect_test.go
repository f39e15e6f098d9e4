package cluster_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// TestAClusterDoesNotSendTheTokenElsewhere checks that a redirect is not followed,
// from https to http least of all, whatever was asked.
func TestAClusterDoesNotSendTheTokenElsewhere(t *testing.T) {
	t.Parallel()
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
		}))
		t.Cleanup(server.Close)
		k, err := kubeapi.NewKubernetes(&rest.Config{Host: server.URL, BearerToken: "t0ken", TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
			cluster.Options{Installation: installation})
		require.NoError(t, err)
		t.Cleanup(k.Close)
		o := configMap(t, "a", "1")
		for what, ask := range map[string]func(context.Context) error{
			"identity": func(ctx context.Context) error { _, err := k.Identity(ctx); return err },
			"get":      func(ctx context.Context) error { _, err := k.Get(ctx, o.ID); return err },
			"create":   func(ctx context.Context) error { _, err := k.Create(ctx, o); return err },
			"delete": func(ctx context.Context) error {
				return k.Delete(ctx, o.ID, cluster.Version{UID: "u", ResourceVersion: "1"})
			},
			"metrics": func(ctx context.Context) error { _, err := k.Metrics(ctx, "shop", "lab-1", 8080); return err },
			"offer":   func(ctx context.Context) error { _, err := k.Offer(ctx, "shop", "web"); return err },
			"nodes":   func(ctx context.Context) error { _, err := k.Nodes(ctx); return err },
			"discovery": func(ctx context.Context) error {
				_, err := k.Get(ctx, bundle.ID{Group: "x.example", Kind: "X", Namespace: "shop", Name: "a"})
				return err
			},
		} {
			require.ErrorContains(t, ask(t.Context()), "redirects to "+elsewhere.URL+", which Signpost does not follow", what)
		}
	}
	require.Zero(t, followed.Load(), "nobody asked there")
}
