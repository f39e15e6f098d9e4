package clusterdns

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
)

// TestAnAPIServerTakesEveryObjectOfEveryStory: strictly, with nothing that it
// does not know, from Signpost with the rights that people give it. So its
// ClusterRole hands out no right that Signpost lacks.
func TestAnAPIServerTakesEveryObjectOfEveryStory(t *testing.T) {
	w := NewWorld(t)
	require.NoError(t, w.Server.Namespace(t.Context(), "coredns"))
	kinds := map[string]bool{}
	for _, s := range story.All[plan.Group](t, "../../pkg/plan/clusterdns/testdata") {
		t.Run(s.Name, func(t *testing.T) {
			objects, err := clusterdns.Render(s.Input, s.Input.DNS[0], clusterdns.Placement(s.Input.DNS[0]))
			require.NoError(t, err)
			for _, o := range inOrder(objects) {
				kinds[o.Kind] = true
				require.NoError(t, w.Server.Apply(t.Context(), string(o.JSON)), "strictly")
				requireKept(t, w, o)
			}
			w.empty(t, objects)
			for _, o := range inOrder(objects) {
				if o.Kind != "Namespace" {
					_, err = w.target.Create(t.Context(), o)
					require.NoError(t, err, "as Signpost")
				}
			}
			w.empty(t, objects)
		})
	}
	require.Len(t, kinds, 7, "of every kind there was one")
}

// empty deletes objects, but for the namespace, which would stay without a
// controller that empties it.
func (w *World) empty(t *testing.T, objects bundle.Bundle) {
	t.Helper()
	for _, o := range objects {
		if o.Kind != "Namespace" {
			require.NoError(t, w.Server.Delete(t.Context(), unstructuredOf(t, o).GroupVersionKind(), o.Namespace, o.Name))
		}
	}
}

func unstructuredOf(t *testing.T, o bundle.Object) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal(o.JSON, &out.Object))
	return out
}

// requireKept expects that the server kept all that the object says: what it
// changed would be drift for ever.
func requireKept(t *testing.T, w *World, o bundle.Object) {
	t.Helper()
	want := unstructuredOf(t, o)
	live, err := w.Server.Get(t.Context(), want.GroupVersionKind(), o.Namespace, o.Name)
	require.NoError(t, err)
	requireWithin(t, o.ID.String(), want.Object, live.Object)
}

// requireWithin expects that a value says all that another one does.
func requireWithin(t *testing.T, at string, want, live any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		there, ok := live.(map[string]any)
		require.True(t, ok || len(want) == 0, at)
		for key, value := range want {
			requireWithin(t, at+"."+key, value, there[key])
		}
	case []any:
		there, ok := live.([]any)
		require.True(t, ok && len(there) == len(want), at)
		for i, value := range want {
			requireWithin(t, at, value, there[i])
		}
	default:
		require.EqualValues(t, want, live, at)
	}
}

// TestDNSPodsAreRestricted: the strictest of Kubernetes' standards for pods
// takes CoreDNS. The node resolver changes a file of the node, and the node's
// cache is on its network, and so both are taken where everything is.
func TestDNSPodsAreRestricted(t *testing.T) {
	w := NewWorld(t)
	objects := Render(t, Asked(intent.DNSCRIntent{
		NodeResolver: &intent.NodeResolver{Services: []string{"shop/registry"}}, NodeLocalDNS: &intent.NodeLocalDNS{Enabled: true},
	}))
	for name, wants := range map[string]map[string]bool{
		clusterdns.ServiceName:  {"restricted": true, "baseline": true, "privileged": true},
		clusterdns.ResolverName: {"restricted": false, "baseline": false, "privileged": true},
		clusterdns.CacheName:    {"restricted": false, "baseline": false, "privileged": true},
	} {
		for level, want := range wants {
			_, err := w.Server.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				GenerateName: level + "-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": level},
			}}, metav1.CreateOptions{})
			require.NoError(t, err)
			namespaces, err := w.Server.Client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: "pod-security.kubernetes.io/enforce=" + level})
			require.NoError(t, err)
			pod := podOf(t, objects, name)
			_, err = w.Server.Client.CoreV1().Pods(namespaces.Items[0].Name).Create(t.Context(), pod, metav1.CreateOptions{})
			if want {
				require.NoError(t, err, "%s where pods are %s", name, level)
			} else {
				require.True(t, apierrors.IsForbidden(err), "%s where pods are %s: %v", name, level, err)
			}
		}
	}
}

// podOf is a pod as the DaemonSet controller makes it.
func podOf(t *testing.T, objects bundle.Bundle, daemonSet string) *corev1.Pod {
	t.Helper()
	for _, o := range objects {
		if o.Kind != "DaemonSet" || o.Name != daemonSet {
			continue
		}
		var set appsv1.DaemonSet
		require.NoError(t, json.Unmarshal(o.JSON, &set))
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: daemonSet + "-", Labels: set.Spec.Template.Labels, Annotations: set.Spec.Template.Annotations},
			Spec:       set.Spec.Template.Spec,
		}
	}
	require.Fail(t, "there is no DaemonSet "+daemonSet)
	return nil
}
