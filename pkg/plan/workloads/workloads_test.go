package workloads

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
)

func group(manifests ...string) plan.Group {
	app := plan.App{Name: "web", Clusters: []string{"edge+berlin"}}
	for _, m := range manifests {
		app.Manifests = append(app.Manifests, json.RawMessage(m))
	}
	return plan.Group{Installation: "k7wq2m9x", Project: plan.Project{Name: "shop"}, LogicalCloud: "eu", LogicalCloudNamespace: "shop", Apps: []plan.App{app}}
}

// TestPlanningTwiceGivesTheSameBytes is I8 for workloads; the manifests, which
// belong to a release, are not touched.
func TestPlanningTwiceGivesTheSameBytes(t *testing.T) {
	for _, s := range stories(t) {
		g := s.Input
		frozen, err := json.Marshal(g)
		require.NoError(t, err)
		want, told, err := Render(t.Context(), g)
		require.NoError(t, err)
		for range 100 {
			got, toldAgain, err := Render(t.Context(), g)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, told, toldAgain)
		}
		after, err := json.Marshal(g)
		require.NoError(t, err)
		assert.JSONEq(t, string(frozen), string(after))
	}
}

// TestNamespaceIsOneForAllGroups: every group of a logical cloud renders the
// same Namespace, or they would undo each other's.
func TestNamespaceIsOneForAllGroups(t *testing.T) {
	one := group(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	other := one
	other.Name, other.CompositeApp = "canary", "store"
	a, _, err := Render(t.Context(), one)
	require.NoError(t, err)
	b, _, err := Render(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, "Namespace", a[0].Kind)
	assert.Equal(t, a[0].JSON, b[0].JSON)
}

func TestAppsWithoutManifestsGiveNothing(t *testing.T) {
	objects, _, err := Render(t.Context(), group())
	require.NoError(t, err)
	assert.Empty(t, objects)
	objects, _, err = Render(t.Context(), group(`{"apiVersion":"v1","kind":"List","items":[]}`))
	require.NoError(t, err)
	assert.Empty(t, objects, "not even a namespace")
}

func TestManifestsThatCannotBeReadAreNamed(t *testing.T) {
	good := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`
	for _, c := range []struct{ reason, manifest, want string }{
		{"no JSON", `{`, `manifest 1 of app "web"`},
		{"not a object", `[]`, `manifest 1 of app "web"`},
		{"null", `null`, `app "web"`},
		{"not a name", `{"apiVersion":"v1","kind":"ConfigMap"}`, `app "web"`},
		{"another namespace", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"kube-system"}}`, "is not in the logical cloud's namespace"},
		{"a share in somebody else's object", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"signpost.dev/keys":"own"}}}`, "Signpost reserves"},
		{"a List of nothing that is an object", `{"apiVersion":"v1","kind":"List","items":[1]}`, `item 0 of a List`},
		{"a List that is none", `{"apiVersion":"v1","kind":"List","items":{}}`, `items of a List`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, _, err := Render(t.Context(), group(good, c.manifest))
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestOtherListsAreObjects(t *testing.T) {
	objects, _, err := Render(t.Context(), group(`{"apiVersion":"policy.example/v1","kind":"List","metadata":{"name":"a"},"items":[{"x":1}]}`))
	require.NoError(t, err)
	require.Len(t, objects, 2)
	assert.Equal(t, bundle.ID{Cluster: "edge+berlin", Group: "policy.example", Kind: "List", Namespace: "shop", Name: "a"}, objects[1].ID)
}

// TestFindingsAreToldOnce: on most clusters they are the same.
// TestAManifestIsNeverADNSEndpointOfSignposts: who is asked to publish a name is told
// by labels that only Signpost gives.
func TestAManifestIsNeverADNSEndpointOfSignposts(t *testing.T) {
	objects, _, err := Render(t.Context(), group(`{"apiVersion":"externaldns.k8s.io/v1alpha1","kind":"DNSEndpoint","metadata":{"name":"a","labels":{
		"signpost.dev/record":"lab","signpost.dev/scope":"public","mine":"too"}},"spec":{"endpoints":[{"dnsName":"www.lab.example"}]}}`))
	require.NoError(t, err)
	for _, o := range objects {
		stored, err := bundle.Stored(o.Cluster, o.App, o.JSON)
		require.NoError(t, err)
		require.Equal(t, o, stored)
		require.Nil(t, stored.Published)
	}
	require.Contains(t, string(objects[len(objects)-1].JSON), `"mine":"too"`)
}

func TestFindingsAreToldOnce(t *testing.T) {
	g := group(
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"hostNetwork":true,"containers":[]}}}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}`)
	g.Apps[0].Clusters = []string{"edge+berlin", "edge+paris"}
	g.Apps[0].PodDNS = &plan.PodDNS{Intent: "web", Spec: intent.PodDNSIntent{App: "web", DNSPolicy: intent.DNSClusterFirst}}
	_, findings, err := Render(t.Context(), g)
	require.NoError(t, err)
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].Detail, `Deployment "web" has hostNetwork: true`)
}

func TestAnIntentForAnAppWithoutWorkloadsIsTold(t *testing.T) {
	g := group(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}`)
	g.Apps[0].PodDNS = &plan.PodDNS{Intent: "web", Spec: intent.PodDNSIntent{App: "web", DNSPolicy: intent.DNSDefault}}
	_, findings, err := Render(t.Context(), g)
	require.NoError(t, err)
	require.Equal(t, []poddns.Finding{{Intent: "web", Pointer: "/spec/app", Detail: `app "web" has no workload among its manifests: no pod gets the settings`}}, findings)
}

// TestRenderingEndsWithItsContext: nobody waits for the rest.
func TestRenderingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Render(ctx, group(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`))
	require.ErrorIs(t, err, context.Canceled)
}
