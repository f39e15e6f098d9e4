package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestADrainedClusterSaysSo(t *testing.T) {
	t.Parallel()
	const hub = "/v2/cluster-providers/edge/clusters/hub"
	w := newWorld(t).fill("")
	require.NotContains(t, w.send("GET", hub, nil).want(http.StatusOK).Body.String(), "drained")

	answer := w.send("POST", hub+"/drain", nil).want(http.StatusAccepted)
	require.JSONEq(t, `{"drained":{"since":"2026-11-02T09:31:07Z","actor":"anonymous"}}`, answer.Body.String())
	require.Contains(t, w.lifecycle.asked, "drain false anonymous cluster-providers/edge/clusters/hub")
	w.send("POST", hub+"/drain?force=true", nil).want(http.StatusAccepted)
	require.Contains(t, w.lifecycle.asked, "drain true anonymous cluster-providers/edge/clusters/hub")
	for _, path := range []string{hub, "/v2/cluster-providers/edge/clusters"} {
		require.Contains(t, w.send("GET", path, nil).want(http.StatusOK).Body.String(),
			`"drained":{"since":"2026-11-02T09:31:07Z","actor":"anonymous"}`, path)
	}

	require.JSONEq(t, `{}`, w.send("POST", hub+"/undrain", nil).want(http.StatusAccepted).Body.String())
	require.NotContains(t, w.send("GET", hub, nil).want(http.StatusOK).Body.String(), "drained")
}

// TestAClusterSaysWhenItsCredentialsEnd, also if it is drained.
func TestAClusterSaysWhenItsCredentialsEnd(t *testing.T) {
	t.Parallel()
	const hub, ends = "/v2/cluster-providers/edge/clusters/hub", `"credentialsExpire":"2026-12-02T09:30:00Z"`
	w := newWorld(t).fill("")
	stored := `{"metadata":{"name":"hub"},"spec":{"kubeconfigRef":"v1","expires":"2026-12-02T09:30:00Z"}}`
	_, err := w.store.Put(t.Context(), intent.Write{Path: "cluster-providers/edge/clusters/hub", Body: []byte(stored), Condition: intent.Always()})
	require.NoError(t, err)
	require.Contains(t, w.send("GET", hub, nil).want(http.StatusOK).Body.String(), ends)
	w.send("POST", hub+"/drain", nil).want(http.StatusAccepted)
	body := w.send("GET", hub, nil).want(http.StatusOK).Body.String()
	require.Contains(t, body, ends)
	require.Contains(t, body, `"drained":`)
	require.NotContains(t, body, "v1")
}

func TestAnAbandonedClusterSaysSo(t *testing.T) {
	t.Parallel()
	const hub = "/v2/cluster-providers/edge/clusters/hub"
	w := newWorld(t).fill("")
	answer := w.send("POST", hub+"/abandon", nil).want(http.StatusOK)
	require.JSONEq(t, `{"leftBehind":[
		{"kind":"Namespace","namespace":"","name":"shop-dns"},
		{"kind":"ConfigMap","namespace":"shop","name":"settings"},
		{"kind":"Deployment","namespace":"shop-dns","name":"external-dns-lab"}
	]}`, answer.Body.String())
	require.Contains(t, w.lifecycle.asked, "abandon false anonymous cluster-providers/edge/clusters/hub")
	w.send("POST", hub+"/abandon?force=true", nil).want(http.StatusOK)
	require.Contains(t, w.lifecycle.asked, "abandon true anonymous cluster-providers/edge/clusters/hub")
	for _, path := range []string{hub, "/v2/cluster-providers/edge/clusters"} {
		require.Contains(t, w.send("GET", path, nil).want(http.StatusOK).Body.String(),
			`"abandoned":{"since":"2026-11-02T09:31:07Z","actor":"anonymous"}`, path)
	}
	w.send("POST", hub+"/abandon?force=1", nil).want(http.StatusBadRequest)
	w.send("POST", "/v2/cluster-providers/edge/clusters/none/abandon", nil).want(http.StatusNotFound)
}

func TestForceIsTrueOrFalse(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	answer := w.send("POST", "/v2/cluster-providers/edge/clusters/hub/drain?force=yes", nil).want(http.StatusBadRequest)
	require.Contains(t, answer.Body.String(), "query parameter force must be true or false")
	w.send("POST", "/v2/cluster-providers/edge/clusters/none/drain", nil).want(http.StatusNotFound)
}

// TestATerminationIsForced for a group, which EMCO's orchestrator may have, and
// for no logical cloud.
func TestATerminationIsForced(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	group := rows()[9].item
	w.send("POST", group+"/terminate?force=true&confirm=abc", nil).want(http.StatusAccepted)
	require.Contains(t, w.lifecycle.asked[len(w.lifecycle.asked)-1], "terminate true abc anonymous ")
	w.send("POST", group+"/terminate?force=1", nil).want(http.StatusBadRequest)
	w.send("POST", "/v2/projects/shop/logical-clouds/eu/terminate?force=true", nil).want(http.StatusBadRequest)
}

// TestAFailoverIsAskedForAsItIsMeant: with its options, as a preview, and with overridden
// rules for administrators of all projects alone.
func TestAFailoverIsAskedForAsItIsMeant(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	const eu = `{"drain":{"labels":{"region":"eu"}},"reason":"flood"}`
	w.token = "o"
	preview := w.send("POST", "/v2/failovers?dryRun=true", eu).want(http.StatusOK).json()
	require.Contains(t, preview, "token")
	require.Contains(t, w.lifecycle.asked, "preview { [] false olga}")
	done := w.send("POST", "/v2/failovers?confirm=abc&force=true", eu).want(http.StatusAccepted).json()
	require.Equal(t, "Moving", done["state"])
	require.Contains(t, w.lifecycle.asked, "failover {{[] map[region:eu]} {[] map[]} flood} {abc [] true olga}")
	refused := w.send("POST", "/v2/failovers?override=window", eu).want(http.StatusForbidden)
	require.Contains(t, refused.Body.String(), "olga may not override safety rules; this needs the role admin in all projects")
	w.token = "a"
	w.send("POST", "/v2/failovers?override=window,neverBoth", eu).want(http.StatusAccepted)
	require.Contains(t, w.lifecycle.asked, "failover {{[] map[region:eu]} {[] map[]} flood} { [window neverBoth] false anna}")
	wrong := w.send("POST", "/v2/failovers?override=luck", eu).want(http.StatusBadRequest)
	require.Contains(t, wrong.Body.String(), "minClusters, neverBoth or window, separated by commas")
	w.send("POST", "/v2/failovers/20261102t093107-x7k2q/revert?dryRun=true", nil).want(http.StatusOK)
	w.send("POST", "/v2/failovers/20261102t093107-x7k2q/revert", nil).want(http.StatusAccepted)
	require.Contains(t, w.lifecycle.asked, "revert 20261102t093107-x7k2q { [] false anna}")
}
