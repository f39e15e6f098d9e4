package release_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/signpost-dns/signpost/pkg/domain/grant"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	berlinCluster intent.Path = "cluster-providers/edge/clusters/berlin"
	parisCluster  intent.Path = "cluster-providers/edge/clusters/paris"
	aConfigMap                = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"}}`
)

// namespacesAre says who made the namespaces of clusters, as a look at them tells:
// all of which nothing is said here are not there.
func (w *world) namespacesAre(madeBy map[string]grant.MadeBy) {
	w.options.Live = liveState{namespaceMaker: func(namespace string) (grant.MadeBy, error) {
		if by, known := madeBy[namespace]; known {
			return by, nil
		}
		return grant.Nobody, nil
	}}
	w.restartOn(w.fake)
}

// grantKind grants a kind on both clusters of eu.
func (w *world) grantKind(kind string) {
	w.Helper()
	for _, cluster := range []intent.Path{berlinCluster, parisCluster} {
		w.put(cluster, fmt.Sprintf(`{"kubeconfigRef":"sealed","kinds":[%q]}`, kind))
	}
}

// inNamespace puts a logical cloud in a namespace, and an app with manifests.
func inNamespace(t *testing.T, namespace string) *world {
	w := newShop(t)
	w.put(eu, fmt.Sprintf(`{"namespace":%q,"controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`, namespace))
	w.deploys(aConfigMap)
	w.namespacesAre(map[string]grant.MadeBy{"team": grant.Others, "flux-system": grant.Others, "default": grant.Others, "ours": grant.Us})
	return w
}

func TestANamespaceThatIsThereTakesAGrant(t *testing.T) {
	t.Parallel()
	const add = ` to spec.namespaces of projects/shop`
	for name, c := range map[string]struct {
		namespace, project, berlin string
		refused                    string // empty: it is not
	}{
		"one that is not there":                       {namespace: "new"},
		"one that Signpost made":                      {namespace: "ours"},
		"one that somebody else made":                 {namespace: "team", refused: `was not made by Signpost; have an administrator of all projects add "team"` + add},
		"one of Flux":                                 {namespace: "flux-system", refused: `is a platform namespace; have an administrator of all projects add "flux-system"` + add},
		"one of Argo CD that is not there":            {namespace: "argocd", refused: `is a platform namespace`},
		"the default one":                             {namespace: "default", refused: `is a platform namespace`},
		"the project's own":                           {namespace: "shop-dns"},
		"granted by name":                             {namespace: "team", project: `"team"`},
		"granted by its beginning":                    {namespace: "team", project: `"te*"`},
		"of the platform, granted by all":             {namespace: "flux-system", project: `"*"`, refused: "is a platform namespace"},
		"of the platform, granted by name":            {namespace: "flux-system", project: `"flux-system"`},
		"granted to the project, not by the cluster":  {namespace: "team", project: `"team"`, berlin: `"other"`, refused: `add "team" to spec.namespaces of cluster-providers/edge/clusters/berlin`},
		"granted by the cluster, not to the project":  {namespace: "team", project: `"other"`, berlin: `"team"`, refused: `add "team" to spec.namespaces of projects/shop`},
		"granted by both":                             {namespace: "team", project: `"team"`, berlin: `"team"`},
		"not granted, and made by Signpost":           {namespace: "ours", project: `"team"`, berlin: `"team"`},
		"not granted, and not there":                  {namespace: "new", project: `"team"`},
		"of the platform, granted by the cluster too": {namespace: "default", project: `"default"`, berlin: `"default"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := inNamespace(t, c.namespace)
			w.put(shop, `{"namespace":"shop-dns","namespaces":[`+c.project+`]}`)
			w.put(berlinCluster, `{"kubeconfigRef":"sealed","namespaces":[`+c.berlin+`]}`)
			if c.refused == "" {
				w.do(intent.Instantiate, prod)
				return
			}
			w.refuses(intent.Instantiate, prod, string(eu)+"#/spec/namespace", c.refused)
		})
	}
}

// TestAClusterGrantsWhatNoProjectIs: each cluster for itself.
func TestAClusterGrantsToProjectsThatHaveNoGrants(t *testing.T) {
	t.Parallel()
	w := inNamespace(t, "team")
	w.put(berlinCluster, `{"kubeconfigRef":"sealed","namespaces":["team"]}`)
	w.refuses(intent.Instantiate, prod, `namespace "team" of cluster edge+paris was not made by Signpost`)
	w.put(parisCluster, `{"kubeconfigRef":"sealed","namespaces":["te*"]}`)
	w.do(intent.Instantiate, prod)
}

func TestAppsWithoutManifestsNeedNoGrant(t *testing.T) {
	t.Parallel()
	w := inNamespace(t, "default")
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, eu)
	w.do(intent.Instantiate, prod)
}

// TestAnAnswerThatDoesNotComeRefusesNothing: the worker asks for the grant then.
func TestAClusterThatDoesNotAnswerRefusesNoNamespace(t *testing.T) {
	t.Parallel()
	w := inNamespace(t, "team")
	w.options.Live = liveState{namespaceMaker: func(string) (grant.MadeBy, error) { return "", errors.New("silent") }}
	w.restartOn(w.fake)
	w.do(intent.Instantiate, prod)

	for owner, want := range map[string]string{
		"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod": "was not made by Signpost",
	} {
		why, err := w.service.NamespaceRefused(t.Context(), berlin, "team", []string{owner})
		require.NoError(t, err)
		require.Contains(t, why, want)
		for _, mine := range []string{"shop-dns", "signpost-dns"} {
			why, err = w.service.NamespaceRefused(t.Context(), berlin, mine, []string{owner})
			require.NoError(t, err)
			require.Empty(t, why)
		}
		w.put(shop, `{"namespace":"shop-dns","namespaces":["team"]}`)
		why, err = w.service.NamespaceRefused(t.Context(), berlin, "team", []string{owner})
		require.NoError(t, err)
		require.Empty(t, why)
		why, err = w.service.NamespaceRefused(t.Context(), berlin, "team", []string{owner, "projects/bank/composite-apps/x/v1/deployment-intent-groups/y"})
		require.NoError(t, err)
		require.NotEmpty(t, why, "all owners have to be granted it")
	}
}

// TestDirectoriesHaveNamespacesOfThePlatformAndOutsideGrantsRefused: nobody can
// tell there what exists.
func TestDirectoriesHaveNamespacesOfThePlatformAndOutsideGrantsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ namespace, project, cluster, refused string }{
		"any":                         {namespace: "team"},
		"one of the platform":         {namespace: "flux-system", refused: "is a platform namespace"},
		"granted to the project":      {namespace: "team", project: `"team"`},
		"outside the project's":       {namespace: "team", project: `"other"`, refused: "is not granted"},
		"outside the cluster's":       {namespace: "team", cluster: `"other"`, refused: "is not granted"},
		"of the platform, granted":    {namespace: "argocd", cluster: `"argocd"`},
		"of the platform, by pattern": {namespace: "argocd", cluster: `"argo*"`, refused: "is a platform namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := inNamespace(t, c.namespace)
			w.put(shop, `{"namespace":"shop-dns","namespaces":[`+c.project+`]}`)
			w.put(berlinCluster, `{"directory":"berlin","namespaces":[`+c.cluster+`]}`)
			w.put(parisCluster, `{"directory":"paris","namespaces":[`+c.cluster+`]}`)
			if c.refused == "" {
				w.do(intent.Instantiate, prod)
				return
			}
			w.refuses(intent.Instantiate, prod, string(eu)+"#/spec/namespace", c.refused)
		})
	}
}

// TestTheDNSOfAClusterTakesAGrantForItsNamespace, and a project for its own if it
// is the platform's.
func TestTheDNSOfAClusterTakesAGrantForItsNamespace(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.namespacesAre(map[string]grant.MadeBy{"team": grant.Others, "signpost-dns": grant.Others})
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	w.resolve(`[{"domain":"foo.com","nameservers":["1.2.3.4"]}]`, `,"namespace":"team"`)
	w.refuses(intent.Update, eu, string(resolvers)+"#/spec/namespace", `"team" of cluster edge+berlin was not made by Signpost`)
	w.put(shop, `{"namespace":"shop-dns","namespaces":["team"]}`)
	w.do(intent.Update, eu)
	w.put(shop, `{"namespace":"flux-system"}`)
	w.refuses(intent.Instantiate, prod, string(shop)+"#/spec/namespace", `namespace "flux-system" of cluster edge+hub is a platform namespace`)
}

// TestImportGoesWhereItIsKnownToBeAllowed: no Namespace is made there, by which a
// worker would see whose it is.
func TestImportGoesWhereItIsKnownToBeAllowed(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.resolve(`[{"domain":"foo.com","nameservers":["1.2.3.4"]}]`, `,"mode":"import","namespace":"team"`)
	w.refuses(intent.Instantiate, eu, "because the cluster does not answer", `add "team" to spec.namespaces of projects/shop`)
	w.put(shop, `{"namespace":"shop-dns","namespaces":["team"]}`)
	w.do(intent.Instantiate, eu)
}

func TestKindsBesideKubernetesOwnTakeAGrantOnTheCluster(t *testing.T) {
	t.Parallel()
	for _, directory := range []bool{true, false} {
		for _, kind := range []string{"cert-manager.io/v1 ClusterIssuer", "kustomize.toolkit.fluxcd.io/v1 Kustomization", "argoproj.io/v1alpha1 Application"} {
			var version, name string
			_, err := fmt.Sscan(kind, &version, &name)
			require.NoError(t, err)
			w := newShop(t)
			if directory {
				w.put(berlinCluster, `{"directory":"berlin"}`)
				w.put(parisCluster, `{"directory":"paris"}`)
			}
			w.deploys(aConfigMap, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"web"}}`, version, name))
			w.refuses(intent.Instantiate, prod, string(prod)+"#/spec/apps", name+`" to spec.kinds of cluster-providers/edge/clusters/berlin, cluster-providers/edge/clusters/paris`)
		}
	}
	w := newShop(t)
	w.deploys(`{"apiVersion":"cert-manager.io/v1","kind":"Certificate","metadata":{"name":"web"}}`)
	w.grantKind("cert-manager.io/Issuer")
	w.refuses(intent.Instantiate, prod, `"cert-manager.io/Certificate"`)
	w.grantKind("cert-manager.io/*")
	w.do(intent.Instantiate, prod)

	w = newShop(t)
	w.deploys(`{"apiVersion":"v1","kind":"namespace","metadata":{"name":"web"}}`)
	w.refuses(intent.Instantiate, prod, "namespace is not a kind of v1")
}

func TestServiceAccountsThatNobodyBringsTakeAGrant(t *testing.T) {
	t.Parallel()
	const token = `{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/service-account-token","metadata":{"name":"web","annotations":{"kubernetes.io/service-account.name":"builder"}}}`
	const account = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"builder"}}`
	builds := deploymentOf("web", `,"serviceAccountName":"builder"`)
	w := newShop(t)
	w.deploys(builds)
	w.refuses(intent.Instantiate, prod, `app "web": Deployment web uses ServiceAccount "builder"`, `add "shop/builder" to spec.serviceAccounts of projects/shop`)
	w.deploys(builds, account)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.deploys(token, account)
	w.refuses(intent.Update, prod, `app "web": Secret web uses ServiceAccount "builder"`, `add "shop/builder" to spec.serviceAccounts of projects/shop`)
	w.put(shop, `{"namespace":"shop-dns","serviceAccounts":["shop/*"]}`)
	w.do(intent.Update, prod)
	w.settle(prod)
	w.deploys(builds)
	w.do(intent.Update, prod)
}

// TestAServiceAccountCountsOnTheClustersThatItIsBroughtTo: one of that name on
// another cluster may be a stranger's.
func TestAServiceAccountCountsOnTheClustersThatItIsBroughtTo(t *testing.T) {
	t.Parallel()
	const account = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"builder"}}`
	builds := deploymentOf("web", `,"serviceAccountName":"builder"`)
	app := func(name, clusters, manifest string) string {
		return fmt.Sprintf(`{"name":%q,"clusters":[%s],"manifests":[%s]}`, name, clusters, manifest)
	}
	const berlinRef, parisRef = `{"clusterProvider":"edge","cluster":"berlin"}`, `{"clusterProvider":"edge","cluster":"paris"}`
	for name, c := range map[string]struct{ accountOn, podsOn, refused string }{
		"on another cluster":      {berlinRef, parisRef, "on cluster-providers/edge/clusters/paris, which the manifests do not contain"},
		"on some of the clusters": {berlinRef, berlinRef + "," + parisRef, "on cluster-providers/edge/clusters/paris, which the manifests do not contain"},
		"on the same cluster":     {parisRef, parisRef, ""},
		"on more clusters":        {berlinRef + "," + parisRef, parisRef, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.put(prod, `{"logicalCloud":"eu","apps":[`+app("account", c.accountOn, account)+","+app("web", c.podsOn, builds)+`]}`, eu)
			if c.refused == "" {
				w.do(intent.Instantiate, prod)
				return
			}
			w.refuses(intent.Instantiate, prod, `app "web": Deployment web uses ServiceAccount "builder" or its token `+c.refused, `add "shop/builder" to spec.serviceAccounts of projects/shop`)
			w.put(shop, `{"namespace":"shop-dns","serviceAccounts":["shop/builder"]}`)
			w.do(intent.Instantiate, prod)
		})
	}
}

// TestAReleaseWhoseGrantIsTakenBackGoesOn, is not updated, and can be terminated.
func TestAReleaseWhoseGrantIsTakenBackGoesOn(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.strangers["Namespace flux-system"] = true
	w.put(eu, `{"namespace":"flux-system","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.put(shop, `{"namespace":"shop-dns","namespaces":["flux-system"]}`)
	w.deploys(aConfigMap)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(shop, `{"namespace":"shop-dns"}`)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	w.refuses(intent.Update, prod, `is a platform namespace`)
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Equal(t, intent.Terminated, w.state(prod))
}
