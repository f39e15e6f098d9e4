package connections

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// hall is an API server that counts the connections to it.
type hall struct {
	kubeconfig []byte
	opened     atomic.Int64
	refusing   atomic.Bool
}

func newHall(t *testing.T) *hall {
	h := &hall{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/namespaces/kube-system":
			identify(w, "a")
		case h.refusing.Load():
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]}`))
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			h.opened.Add(1)
		}
	}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	h.kubeconfig = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],
		"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}]}`, server.URL)
	return h
}

// TestPlansReadOverOneConnection, until the kubeconfig changes, a read fails, or the cluster
// is gone.
func TestPlansReadOverOneConnection(t *testing.T) {
	t.Parallel()
	first, second := newHall(t), newHall(t)
	c, _ := registered(t, intent.Cluster{KubeconfigRef: "v1"})
	c.values = opened(first.kubeconfig)
	read := func() error {
		_, err := c.ReadNodes(t.Context(), "edge+hub")
		return err
	}
	for range 20 {
		require.NoError(t, read())
	}
	require.EqualValues(t, 1, first.opened.Load())
	var many sync.WaitGroup
	for range 20 {
		many.Go(func() { _ = read() })
	}
	many.Wait()
	require.EqualValues(t, 1, first.opened.Load())

	first.refusing.Store(true)
	require.Error(t, read())
	first.refusing.Store(false)
	require.NoError(t, read())
	require.EqualValues(t, 2, first.opened.Load(), "a connection that fails is left")

	c.values = opened(second.kubeconfig)
	_ = read() // where it leads is judged anew
	require.EqualValues(t, 1, second.opened.Load())
	require.NoError(t, c.documents.Delete(t.Context(), hub, intent.Always()))
	require.Error(t, read())
	require.Empty(t, c.live)
}

// TestAConnectionThatNoPlanUsesIsDropped once another cluster is read, as that of a cluster which
// is registered no more.
func TestAConnectionThatNoPlanUsesIsDropped(t *testing.T) {
	t.Parallel()
	server := newHall(t)
	c, documents := registered(t, intent.Cluster{KubeconfigRef: "v1"})
	c.values = opened(server.kubeconfig)
	read := func(name string) { _, _ = c.ReadNodes(t.Context(), name) }
	path := func(name string) intent.Path { return intent.Path("cluster-providers/edge/clusters/" + name) }
	for _, name := range []string{"gone", "used", "next"} {
		put(t, documents, path(name), intent.Cluster{KubeconfigRef: "v1"})
	}
	read("edge+gone")
	read("edge+used")
	require.NoError(t, documents.Delete(t.Context(), path("gone"), intent.Always()))
	for name, to := range c.live {
		to.used = to.used.Add(-liveKept)
		c.live[name] = to
	}
	read("edge+used")
	read("edge+next")
	require.ElementsMatch(t, []string{"edge+used", "edge+next"}, slices.Collect(maps.Keys(c.live)))
}
