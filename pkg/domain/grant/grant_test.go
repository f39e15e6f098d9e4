package grant_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/grant"
)

func TestNamespacesAreGrantedByNameOrBeginning(t *testing.T) {
	for name, c := range map[string]struct {
		granted   grant.Namespaces
		namespace string
		want      bool
	}{
		"an exact name":                        {grant.Namespaces{"team-a"}, "team-a", true},
		"another name":                         {grant.Namespaces{"team-a"}, "team-ab", false},
		"a beginning":                          {grant.Namespaces{"team-*"}, "team-a", true},
		"another beginning":                    {grant.Namespaces{"team-*"}, "teams", false},
		"all":                                  {grant.Namespaces{"*"}, "shop", true},
		"nothing":                              {nil, "shop", false},
		"all but platform namespaces":          {grant.Namespaces{"*"}, "flux-system", false},
		"all but the default one":              {grant.Namespaces{"*"}, "default", false},
		"a beginning of a platform namespace":  {grant.Namespaces{"flux-*"}, "flux-system", false},
		"a family of platform namespaces":      {grant.Namespaces{"openshift-*"}, "openshift-gitops", false},
		"a platform namespace by its own name": {grant.Namespaces{"*", "openshift-gitops"}, "openshift-gitops", true},
	} {
		require.Equal(t, c.want, c.granted.Hold(c.namespace), name)
	}
}

func TestPatterns(t *testing.T) {
	for _, right := range []string{"shop", "team-a", "team-*", "*", "0", "team*"} {
		require.True(t, grant.IsPattern(right), right)
	}
	for _, wrong := range []string{"", "Shop", "-a", "a-", "a*b", "**", "a/b", "a.b", "-*", strings.Repeat("a", 64)} {
		require.False(t, grant.IsPattern(wrong), wrong)
	}
}

func TestWhereBothSpeakBothMustAllow(t *testing.T) {
	for name, c := range map[string]struct {
		project, cluster grant.Namespaces
		want             bool
	}{
		"nobody":            {nil, nil, false},
		"the project alone": {grant.Namespaces{"shop"}, nil, true},
		"the cluster alone": {nil, grant.Namespaces{"shop"}, true},
		"both":              {grant.Namespaces{"shop"}, grant.Namespaces{"sh*"}, true},
		"not the cluster":   {grant.Namespaces{"shop"}, grant.Namespaces{"other"}, false},
		"not the project":   {grant.Namespaces{"other"}, grant.Namespaces{"shop"}, false},
	} {
		require.Equal(t, c.want, grant.Both(c.project, c.cluster, "shop"), name)
	}
}

func TestPlatformNamespaces(t *testing.T) {
	for _, namespace := range []string{"default", "kube-system", "flux-system", "argocd", "cert-manager", "openshift-monitoring", "openshift", "istio-system"} {
		require.True(t, grant.Platform(namespace), namespace)
	}
	for _, namespace := range []string{"shop", "signpost-dns", "signpost-billing-system", "fluxes", "defaults"} {
		require.False(t, grant.Platform(namespace), namespace)
	}
}

func TestServiceAccountsAreGrantedWithTheirNamespace(t *testing.T) {
	granted := grant.ServiceAccounts{"shop/builder", "team/*", "lab/run-*"}
	for account, want := range map[[2]string]bool{
		{"shop", "builder"}: true, {"shop", "builders"}: false, {"shop", "default"}: false,
		{"team", "any"}: true, {"teams", "any"}: false, {"lab", "run-1"}: true, {"lab", "walk"}: false,
		{"flux-system", "kustomize-controller"}: false,
	} {
		require.Equal(t, want, granted.Hold(account[0], account[1]), account)
	}
}

func TestKindsOfKubernetesNeedNoGrant(t *testing.T) {
	require.True(t, grant.Common("", "Service"))
	require.True(t, grant.Common("apps", "Deployment"))
	for _, kind := range [][2]string{
		{"", "Namespace"}, {"", "namespace"}, {"core", "Namespace"}, {"cert-manager.io", "ClusterIssuer"},
		{"gateway.networking.k8s.io", "HTTPRoute"}, {"storage.k8s.io", "StorageClass"}, {"apps", "deployment"}, {"resource.k8s.io", "DeviceClass"},
		{"apps", "ControllerRevision"},
	} {
		require.False(t, grant.Common(kind[0], kind[1]), kind)
	}
	granted := grant.Kinds{"cert-manager.io/Certificate", "argoproj.io/*"}
	require.True(t, granted.Hold("cert-manager.io", "Certificate"))
	require.False(t, granted.Hold("cert-manager.io", "ClusterIssuer"))
	require.True(t, granted.Hold("argoproj.io", "Rollout"))
	require.False(t, granted.Hold("x.argoproj.io", "Rollout"))
}

func TestAccountsOfPods(t *testing.T) {
	for text, want := range map[string][]string{
		`{"apiVersion":"v1","kind":"Pod","spec":{"serviceAccountName":"builder"}}`:                                                          {"builder"},
		`{"apiVersion":"v1","kind":"Pod","spec":{"serviceAccount":"builder"}}`:                                                              {"builder"},
		`{"apiVersion":"v1","kind":"Pod","spec":{"serviceAccountName":"default"}}`:                                                          nil,
		`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[]}}`:                                                                         nil,
		`{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"serviceAccountName":"kustomize-controller"}}}}`:           {"kustomize-controller"},
		`{"apiVersion":"batch/v1","kind":"CronJob","spec":{"jobTemplate":{"spec":{"template":{"spec":{"serviceAccountName":"builder"}}}}}}`: {"builder"},
		`{"apiVersion":"v1","kind":"ConfigMap","data":{"serviceAccountName":"words"}}`:                                                      nil,
		`{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","spec":{"serviceAccountName":"admin"}}`:                      {"admin"},
		`{"apiVersion":"apps/v1","kind":"ControllerRevision","data":{"spec":{"template":{"spec":{"serviceAccountName":"admin"}}}}}`:         {"admin"},
		`{"apiVersion":"tekton.dev/v1","kind":"PipelineRun","spec":{"taskRunSpecs":[{"serviceAccountName":"admin"}]}}`:                      {"admin"},
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","spec":{"template":{"spec":{"containers":[],"serviceAccount":"builder"}}}}`:  {"builder"},
	} {
		require.Equal(t, want, grant.Accounts(read(t, text)), text)
	}
}

func TestTokensOfAccounts(t *testing.T) {
	account, ok := grant.TokenOf(read(t, `{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/service-account-token","metadata":{"annotations":{"kubernetes.io/service-account.name":"admin"}}}`))
	require.True(t, ok)
	require.Equal(t, "admin", account)
	_, ok = grant.TokenOf(read(t, `{"apiVersion":"v1","kind":"Secret","type":"Opaque"}`))
	require.False(t, ok)
}

func read(t *testing.T, text string) map[string]any {
	var manifest map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &manifest))
	return manifest
}
