package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestNamespacesOfAppContextsAreThoseThatTheServerAllows: by default all but those
// of Kubernetes and of the platform.
func TestNamespacesOfAppContextsAreThoseThatTheServerAllows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allowed   grant.Namespaces
		namespace string
		refused   bool
	}{
		"any":                            {namespace: "team"},
		"the default one":                {namespace: "default"},
		"one of the platform":            {namespace: "flux-system", refused: true},
		"one of Kubernetes":              {namespace: "kube-system", refused: true},
		"one that is allowed":            {allowed: grant.Namespaces{"team-*"}, namespace: "team-a"},
		"one that is not":                {allowed: grant.Namespaces{"team-*"}, namespace: "shop", refused: true},
		"the default one, not allowed":   {allowed: grant.Namespaces{"*"}, namespace: "default", refused: true},
		"one of the platform, allowed":   {allowed: grant.Namespaces{"argocd"}, namespace: "argocd"},
		"one of Kubernetes, by its name": {allowed: grant.Namespaces{"kube-system"}, namespace: "kube-system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOrchestrated(t)
			w.options.OrchestratedNamespaces = c.allowed
			w.restartOn(w.fake)
			app := orchestratedWeb(early)
			app.meta["Namespace"] = c.namespace
			w.lay(app)
			if c.refused {
				w.refusesCall(early, intent.Conflict, `app context 4242 has app "web" in namespace `+c.namespace+`, which is not allowed`, "--emco-namespaces")
				return
			}
			_, err := w.call(early)
			require.NoError(t, err)
		})
	}
}

// TestPodsOfOtherNamespacesAreNotEdited: an object of an app context may name one.
func TestPodsOfOtherNamespacesAreNotEdited(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.put(webPods, ndots1)
	app := orchestratedWeb(early)
	for _, on := range app.apps["web"] {
		on["web+Deployment"] = strings.Replace(webPodYAML, "  name: web\n", "  name: web\n  namespace: flux-system\n", 1)
	}
	w.lay(app)
	w.refusesCall(early, intent.Conflict, `Deployment "web" of app "web" is in namespace flux-system, which is not allowed`)
}
