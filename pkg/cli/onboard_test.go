package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
)

const boundToken = "bound.token.of-signpost"

// apiServer takes what is applied, and gives tokens.
type apiServer struct {
	denies string // a part of the paths that are forbidden

	mu      sync.Mutex
	applied []string // paths
	asked   []string // bodies of token requests
}

func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case a.denies != "" && strings.Contains(r.URL.Path, a.denies):
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"ann may not"}`)
	case r.Method == http.MethodPatch && r.URL.Query().Get("fieldManager") == "signpost-connect":
		a.applied = append(a.applied, r.URL.Path)
		_, _ = w.Write(body)
	case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces/signpost/serviceaccounts/signpost/token":
		a.asked = append(a.asked, string(body))
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{},"status":{"token":%q,"expirationTimestamp":"2026-12-02T09:30:00Z"}}`, boundToken)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// ownKubeconfig is a user's own kubeconfig with the context prod-one.
func ownKubeconfig(t *testing.T, server string) string {
	t.Helper()
	return write(t, "config", `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+server+`"}}],
		"users":[{"name":"ann","user":{"token":"token-of-ann"}}],"contexts":[{"name":"prod-one","context":{"cluster":"c","user":"ann"}}]}`)
}

func newAPIServer(t *testing.T, a *apiServer) (kubeconfig, url string) {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return ownKubeconfig(t, server.URL), server.URL
}

const (
	dcOne        = "cluster-providers/dc/clusters/one"
	canManageOne = `{"reachable":true,"version":"v1.36.3","checks":[{"name":"can list services","ok":true,"message":""}]}`
)

func TestConnectMakesAnAccountAndRegistersTheCluster(t *testing.T) {
	t.Parallel()
	cluster := &apiServer{}
	kubeconfig, url := newAPIServer(t, cluster)
	f := newFake(t)
	f.on("GET "+dcOne+"/preflight", 200, "Preflight", canManageOne)
	got := signpost(t, f.url, "connect", "prod-one", "--kubeconfig", kubeconfig, "--as", "dc/one", "--for", "addresses")
	require.Equal(t, result{exitDone, `applied namespaces signpost
applied serviceaccounts signpost
applied roles signpost
applied rolebindings signpost
applied clusterroles signpost-addresses
applied clusterrolebindings signpost-addresses
applied clusterroles signpost-address-sources
applied clusterrolebindings signpost-address-sources
got a token of system:serviceaccount:signpost:signpost that ends 2026-12-02T09:30:00Z
created cluster-providers/dc
registered cluster-providers/dc/clusters/one for addresses
reached, Kubernetes v1.36.3; 1 of 1 check passed
`, ""}, got)
	require.Equal(t, []string{"PUT cluster-providers/dc", "PUT " + dcOne}, f.seen())
	require.Contains(t, cluster.asked[0], `"expirationSeconds":2592000`, "30 days")
	require.Contains(t, cluster.applied, "/apis/rbac.authorization.k8s.io/v1/clusterroles/signpost-addresses")

	given := connected(t, f.documents[dcOne])
	require.Equal(t, []intent.ClusterUse{intent.UseAddresses}, given.Uses)
	require.Contains(t, given.Kubeconfig, url)
	require.Contains(t, given.Kubeconfig, boundToken)
	require.NotContains(t, given.Kubeconfig, "token-of-ann", "the user's own credentials stay")
}

// connected is the spec of a stored document, with the kubeconfig as it was sent.
func connected(t *testing.T, body string) intent.Cluster {
	t.Helper()
	var doc intent.Resource[intent.Cluster]
	require.NoError(t, json.Unmarshal([]byte(body), &doc))
	raw, err := base64.StdEncoding.DecodeString(doc.Spec.Kubeconfig)
	require.NoError(t, err)
	doc.Spec.Kubeconfig = string(raw)
	return doc.Spec
}

func TestConnectAgainRestoresTheTokenAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	kubeconfig, _ := newAPIServer(t, &apiServer{})
	f := newFake(t)
	f.on("GET "+dcOne+"/preflight", 200, "Preflight", canManageOne)
	f.documents[dcOne], f.revisions[dcOne] = `{"metadata":{"name":"one","description":"ours"},"spec":{"uses":["addresses"],"labels":{"region":"eu"}}}`, 3
	got := signpost(t, f.url, "connect", "prod-one", "--kubeconfig", kubeconfig, "--as", "dc+one", "--for", "home,addresses,home", "--api-server", "https://one.example:6443")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "updated "+dcOne+" for home, addresses\n")
	require.Equal(t, []string{"PUT " + dcOne}, f.seen())
	given := connected(t, f.documents[dcOne])
	require.Equal(t, map[string]string{"region": "eu"}, given.Labels)
	require.Contains(t, f.documents[dcOne], `"description":"ours"`)
	require.Contains(t, given.Kubeconfig, "https://one.example:6443")
}

// TestConnectFailsAsItsPreflightDoes: the rights may take a moment, so it asks again.
func TestConnectFailsAsItsPreflightDoes(t *testing.T) {
	t.Parallel()
	kubeconfig, _ := newAPIServer(t, &apiServer{})
	args := []string{"connect", "prod-one", "--kubeconfig", kubeconfig, "--as", "dc/one", "--for", "addresses"}
	const lacks = `{"reachable":true,"checks":[{"name":"can list services","ok":false,"message":"apply deploy/target-cluster/addresses.yaml"}]}`
	f := newFake(t)
	f.on("GET "+dcOne+"/preflight", 200, "Preflight", lacks)
	got := signpost(t, f.url, args...)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, "apply deploy/target-cluster/addresses.yaml")

	f = newFake(t)
	f.on("GET "+dcOne+"/preflight", 200, "Preflight", lacks)
	f.on("GET "+dcOne+"/preflight", 200, "Preflight", canManageOne)
	require.Equal(t, exitDone, signpost(t, f.url, args...).code)
}

func TestConnectRegistersNothingThatItCouldNotGrant(t *testing.T) {
	t.Parallel()
	for _, denied := range []string{"clusterroles", "/token"} {
		kubeconfig, _ := newAPIServer(t, &apiServer{denies: denied})
		f := newFake(t)
		got := signpost(t, f.url, "connect", "prod-one", "--kubeconfig", kubeconfig, "--as", "dc/one", "--for", "addresses")
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, "ann may not")
		require.Empty(t, f.seen())
	}
}

func TestConnectPrintsItsManifestAlone(t *testing.T) {
	t.Parallel()
	want, err := rights.Manifest(intent.UseHome)
	require.NoError(t, err)
	got := signpost(t, "http://127.0.0.1:1", "connect", "none", "--as", "dc/one", "--for", "home", "--print")
	require.Equal(t, result{exitDone, string(want), ""}, got)
}

func TestConnectRefusesWhatItCanJudge(t *testing.T) {
	t.Parallel()
	good := ownKubeconfig(t, "https://127.0.0.1:1")
	for _, test := range []struct{ args, problem string }{
		{"", "one context of the kubeconfig"},
		{"prod-one", "--as is missing"},
		{"prod-one --as dc/one", "--for is missing"},
		{"prod-one --as one --for home", "--as: "},
		{"prod-one --as dc/one --for home,names --print", `"names" is not a use of a cluster`},
		{"other --as dc/one --for home --kubeconfig " + good, `"other"`},
	} {
		got := signpost(t, "http://127.0.0.1:1", append([]string{"connect"}, strings.Fields(test.args)...)...)
		require.Equal(t, exitUsage, got.code, test.args)
		require.Contains(t, got.err, test.problem)
	}
}
