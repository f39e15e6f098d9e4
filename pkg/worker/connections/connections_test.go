package connections

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// opened is what every sealed value holds.
type opened []byte

func (v opened) Secret(context.Context, string) ([]byte, error) { return v, nil }

// behind are the connections of a world in which a server that answers so, and
// says which cluster it is, is cluster hub.
func behind(t *testing.T, answer http.HandlerFunc) *Pool {
	c, _ := registered(t, intent.Cluster{KubeconfigRef: "v1"})
	c.values = opened(answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces/kube-system" {
			identify(w, "a")
			return
		}
		answer(w, r)
	}))
	return c
}

func TestPlanLooksAtTheNodesThemselves(t *testing.T) {
	t.Parallel()
	var asked string
	nodes, err := behind(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[
			{"metadata":{"name":"b","labels":{"disktype":"ssd"}},"spec":{"taints":[{"key":"dns-only","effect":"NoSchedule"}]}},
			{"metadata":{"name":"a"}}]}`))
	}).ReadNodes(t.Context(), "edge+hub")
	require.NoError(t, err)
	require.Equal(t, "/api/v1/nodes", asked)
	require.Equal(t, []placement.Node{
		{Name: "a"},
		{Name: "b", Labels: map[string]string{"disktype": "ssd"}, Taints: []placement.Taint{{Key: "dns-only", Effect: "NoSchedule"}}},
	}, nodes)
}

// TestEachClusterHasABudgetOfItsOwn, which all connections to it share, and which the
// flag sets.
func TestEachClusterHasABudgetOfItsOwn(t *testing.T) {
	t.Parallel()
	c := New(Settings{Memory: 16 << 20}, Identities{}, nil)
	require.Same(t, c.budget("edge+hub"), c.budget("edge+hub"))
	require.NoError(t, c.budget("edge+hub").Keep(16<<20))
	require.Error(t, c.budget("edge+hub").Keep(1))
	require.NoError(t, c.budget("edge+berlin").Keep(1))
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewMemoryMetric(c))
	families, err := registry.Gather()
	require.NoError(t, err)
	told := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		told[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
	}
	require.Equal(t, map[string]float64{"edge+berlin": 1, "edge+hub": 16 << 20}, told)
}

// TestAClusterWithoutADocumentIsForgotten, which is told once. If the cluster comes back, it
// is followed from when it is connected to.
func TestAClusterWithoutADocumentIsForgotten(t *testing.T) {
	t.Parallel()
	c, documents := registered(t, intent.Cluster{KubeconfigRef: "v1"})
	c.values = opened(newHall(t).kubeconfig)
	connect := func() {
		target, err := c.Connect(t.Context(), "edge+hub")
		require.NoError(t, err)
		t.Cleanup(target.Close)
	}
	connect()
	require.NoError(t, c.budget("edge+hub").Keep(1))
	require.NoError(t, documents.Delete(t.Context(), hub, intent.Always()))
	require.Equal(t, []string{"edge+hub"}, c.stale(t.Context()))
	require.Empty(t, c.seen, "its document is not read again")
	c.dropBudgets()
	require.Len(t, c.budgets, 1, "what is kept still counts")
	require.NoError(t, c.budget("edge+hub").Keep(-1))
	c.dropBudgets()
	require.Empty(t, c.budgets)

	put(t, documents, hub, intent.Cluster{KubeconfigRef: "v1"})
	require.Empty(t, c.stale(t.Context()))
	connect()
	c.dropBudgets()
	require.Len(t, c.budgets, 1)
	put(t, documents, hub, intent.Cluster{KubeconfigRef: "v2"})
	require.Equal(t, []string{"edge+hub"}, c.stale(t.Context()))
	require.Empty(t, c.stale(t.Context()))
}

func TestNodesOfAClusterWithNoneAreKnown(t *testing.T) {
	t.Parallel()
	nodes, err := behind(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":null}`))
	}).ReadNodes(t.Context(), "edge+hub")
	require.NoError(t, err)
	require.NotNil(t, nodes, "none is not unknown")
	require.Empty(t, nodes)
}

func TestNodesThatCannotBeSeenAreNotNone(t *testing.T) {
	t.Parallel()
	nodes, err := behind(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"nodes is forbidden","code":403}`))
	}).ReadNodes(t.Context(), "edge+hub")
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	require.Nil(t, nodes)
	for _, spec := range []intent.Cluster{{Directory: "gitops"}, {}} {
		c, _ := registered(t, spec)
		nodes, err = c.ReadNodes(t.Context(), "edge+hub")
		require.NoError(t, err)
		require.Nil(t, nodes, "where there is no API server, nothing is known")
	}
	c, _ := registered(t, intent.Cluster{})
	_, err = c.ReadNodes(t.Context(), "edge+other")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

// TestATokenIsRenewedByTheClusterThatTheNameStandsFor, and by no other.
func TestATokenIsRenewedByTheClusterThatTheNameStandsFor(t *testing.T) {
	t.Parallel()
	var asked []string
	c, _ := registered(t, intent.Cluster{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces/kube-system" {
			identify(w, "a")
			return
		}
		asked = append(asked, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"new","expirationTimestamp":"2026-12-02T09:30:00Z"}}`))
	}))
	t.Cleanup(server.Close)
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"iat":1,"exp":2,"kubernetes.io":{"namespace":"ours","serviceaccount":{"name":"s"}}}`))
	kubeconfig := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],"users":[{"name":"u","user":{"token":"e30.%s.c2ln"}}]}`, server.URL, claims)
	token, err := c.RenewToken(t.Context(), hub, kubeconfig)
	require.NoError(t, err)
	require.Equal(t, "new", token.Value)
	require.Equal(t, []string{"POST /api/v1/namespaces/ours/serviceaccounts/s/token"}, asked)

	require.NoError(t, c.Identities.claim(t.Context(), ledger.Claim{Cluster: "edge+alias", UID: "a", Source: "elsewhere"}))
	asked = nil
	_, err = c.RenewToken(t.Context(), hub, kubeconfig)
	require.ErrorContains(t, err, "registered as edge+alias already")
	require.Empty(t, asked)
}
