package cluster_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/directory"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// gatekeeper is an API server that answers what is allowed.
type gatekeeper struct {
	denies     func(a authorizationv1.ResourceAttributes) bool
	definition string // of DNSEndpoint; empty: there is none

	mu    sync.Mutex
	asked []authorizationv1.ResourceAttributes
}

func (g *gatekeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/version":
		_, _ = w.Write([]byte(`{"gitVersion":"v1.36.3"}`))
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		var review authorizationv1.SelfSubjectAccessReview
		if json.NewDecoder(r.Body).Decode(&review) != nil || review.Spec.ResourceAttributes == nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		g.mu.Lock()
		g.asked = append(g.asked, *review.Spec.ResourceAttributes)
		g.mu.Unlock()
		review.Status.Allowed = g.denies == nil || !g.denies(*review.Spec.ResourceAttributes)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(review)
	case g.definition != "":
		_, _ = w.Write([]byte(g.definition))
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`))
	}
}

func (g *gatekeeper) preflight(t *testing.T, namespaces ...string) intent.Preflight {
	t.Helper()
	return g.preflightFor(t, nil, namespaces...)
}

func (g *gatekeeper) preflightFor(t *testing.T, uses []intent.ClusterUse, namespaces ...string) intent.Preflight {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, cluster.Options{Installation: installation, Version: "1.2.3"})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k.Preflight(t.Context(), intent.Cluster{Uses: uses}, namespaces)
}

// failed are the checks that did not pass, by name.
func failed(p intent.Preflight) map[string]string {
	out := map[string]string{}
	for _, c := range p.Checks {
		if !c.OK {
			out[c.Name] = c.Message
		}
	}
	return out
}

func names(p intent.Preflight) []string {
	var out []string
	for _, c := range p.Checks {
		out = append(out, c.Name)
	}
	return out
}

const endpoints = "knows DNSEndpoint or can be taught it"

func TestPreflightAsksForEachRightOfTheManifest(t *testing.T) {
	t.Parallel()
	g := &gatekeeper{}
	p := g.preflight(t, "shop-dns")
	require.True(t, p.Reachable)
	require.Equal(t, "v1.36.3", p.Version)
	require.Empty(t, failed(p))
	for _, name := range []string{
		"can create deployments in shop-dns", "can get namespaces", "can watch deployments", "can get pods/proxy in shop-dns",
		"can update dnsendpoints/status in shop-dns", "can list all kinds", "can create customresourcedefinitions", endpoints,
		"can watch nodes", "can create daemonsets in shop-dns", "can create clusterroles", "can watch endpointslices",
	} {
		assert.Contains(t, names(p), name)
	}
	assert.NotContains(t, names(p), "can delete customresourcedefinitions", "what the manifest does not grant is not asked for")
	for _, a := range g.asked {
		assert.Empty(t, a.Namespace, "what is allowed everywhere is asked once")
	}
	assert.Contains(t, g.asked, authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: "proxy"})
}

func TestPreflightIsContentWithRightsInTheNamespacesThatMatter(t *testing.T) {
	t.Parallel()
	g := &gatekeeper{denies: func(a authorizationv1.ResourceAttributes) bool {
		return a.Resource == "secrets" && a.Verb == "create" && a.Namespace != "shop-dns"
	}}
	require.Equal(t, []string{"can create secrets in bakery-dns"}, keys(failed(g.preflight(t, "shop-dns", "bakery-dns"))))
	require.Equal(t, []string{"can create secrets"}, keys(failed(g.preflight(t))), "without namespaces it is asked for everywhere")
	g = &gatekeeper{denies: func(a authorizationv1.ResourceAttributes) bool {
		return a.Verb == "watch" && a.Resource == "secrets" && a.Namespace == ""
	}}
	require.Equal(t, []string{"can watch secrets"}, keys(failed(g.preflight(t, "shop-dns"))), "a watch sees all namespaces")
}

func keys(m map[string]string) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	return out
}

func TestPreflightSaysWhatAMissingRightCosts(t *testing.T) {
	t.Parallel()
	g := &gatekeeper{denies: func(a authorizationv1.ResourceAttributes) bool {
		return a.Resource == "*" || a.Resource == "roles" && a.Verb == "patch"
	}}
	fails := failed(g.preflight(t, "shop-dns"))
	require.Len(t, fails, 2)
	require.Contains(t, fails["can list all kinds"], "namespaces that Signpost made stay")
	require.Contains(t, fails["can patch roles in shop-dns"], "apply deploy/target-cluster/home.yaml")
}

// TestPreflightAsksForTheRightsOfTheUsesAlone: one that addresses do not need may be
// missing.
func TestPreflightAsksForTheRightsOfTheUsesAlone(t *testing.T) {
	t.Parallel()
	g := &gatekeeper{}
	p := g.preflightFor(t, []intent.ClusterUse{intent.UseAddresses}, "shop-dns")
	require.Empty(t, failed(p))
	require.ElementsMatch(t, []string{
		"can get namespaces kube-system", "can list services", "can watch services", "can list endpointslices", "can watch endpointslices",
		"can list ingresses", "can watch ingresses", "can list gateways", "can watch gateways", "can list httproutes", "can watch httproutes",
		"can list nodes", "can watch nodes",
	}, names(p))
	assert.Contains(t, g.asked, authorizationv1.ResourceAttributes{Verb: "get", Resource: "namespaces", Name: "kube-system"})

	g.denies = func(a authorizationv1.ResourceAttributes) bool { return a.Resource == "ingresses" }
	says := failed(g.preflightFor(t, []intent.ClusterUse{intent.UseAddresses}))["can watch ingresses"]
	require.Contains(t, says, "without it only load balancers")
	require.Contains(t, says, "apply deploy/target-cluster/addresses.yaml")
}

// TestPreflightAsksWhetherATokenCanBeRenewed, where it has an end.
func TestPreflightAsksWhetherATokenCanBeRenewed(t *testing.T) {
	t.Parallel()
	g := &gatekeeper{denies: func(a authorizationv1.ResourceAttributes) bool { return a.Subresource == "token" }}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	claims := `{"iat":1,"exp":2,"kubernetes.io":{"namespace":"ours","serviceaccount":{"name":"s"}}}`
	config := &rest.Config{Host: server.URL, BearerToken: "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"}
	config.ContentType = "application/json"
	k, err := kubeapi.NewKubernetes(config, cluster.Options{Installation: installation, Version: "1.2.3"})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	fails := failed(k.Preflight(t.Context(), intent.Cluster{Uses: []intent.ClusterUse{intent.UseAddresses}}, []string{"shop-dns"}))
	require.Len(t, fails, 1)
	require.Contains(t, fails["can create serviceaccounts/token s in ours"], "loses the cluster when the token ends")
	require.Contains(t, g.asked, authorizationv1.ResourceAttributes{Verb: "create", Resource: "serviceaccounts", Subresource: "token", Name: "s", Namespace: "ours"})
}

func TestPreflightWantsEndpointsDefinedOrDefinable(t *testing.T) {
	noDefinitions := func(a authorizationv1.ResourceAttributes) bool {
		return a.Resource == "customresourcedefinitions" && a.Verb == "create"
	}
	for reason, c := range map[string]struct {
		given *gatekeeper
		says  string // empty: it is fine
	}{
		"it is there":                    {&gatekeeper{denies: noDefinitions, definition: `{"status":{"conditions":[{"type":"Established","status":"True"}]}}`}, ""},
		"it can be made":                 {&gatekeeper{}, ""},
		"it is missing and may not come": {&gatekeeper{denies: noDefinitions}, "is missing and may not be made"},
	} {
		t.Run(reason, func(t *testing.T) {
			says, wrong := failed(c.given.preflight(t))[endpoints]
			require.Equal(t, c.says != "", wrong)
			require.Contains(t, says, c.says)
		})
	}
}

func TestPreflightOfWhatDoesNotAnswerIsAnAnswer(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	defer other.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	for host, says := range map[string]string{gone.URL: "connection refused", other.URL: "not a Kubernetes API server", silent.URL: "no answer in time"} {
		k, err := kubeapi.NewKubernetes(&rest.Config{Host: host}, cluster.Options{})
		require.NoError(t, err)
		began := time.Now()
		p := k.Preflight(t.Context(), intent.Cluster{}, nil)
		require.False(t, p.Reachable)
		require.Contains(t, failed(p)["can be reached"], says)
		require.Less(t, time.Since(began), cluster.RequestDeadline)
		k.Close()
	}
}

func TestPreflightOfADirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d, err := directory.NewDirectory(root, "gitops", cluster.Options{})
	require.NoError(t, err)
	defer d.Close()
	p := d.Preflight(t.Context())
	require.True(t, p.Reachable)
	require.Equal(t, []string{"has its directory", "can write to its directory"}, names(p))
	require.Empty(t, failed(p))
	left, err := os.ReadDir(filepath.Join(root, "gitops"))
	require.NoError(t, err)
	require.Empty(t, left, "it leaves nothing")

	require.NoError(t, os.RemoveAll(root))
	p = d.Preflight(t.Context())
	require.False(t, p.Reachable)
	require.Equal(t, []string{"has its directory"}, keys(failed(p)))
}
