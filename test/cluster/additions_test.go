package cluster_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// ours are objects of the kinds that Signpost renders, and one of an app's manifests.
const (
	ourDeployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"ours","namespace":"additions","labels":{"signpost.dev/project":"shop","signpost.dev/record":"lab"}},
		"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"external-dns","image":"x:1","args":["--a"]}]}}}}`
	ourDaemonSet = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"ours","namespace":"additions","labels":{"signpost.dev/project":"shop","signpost.dev/logical-cloud":"eu"}},
		"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"coredns","image":"x:1"}]}}}}`
	ourService = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"ours","namespace":"additions","labels":{"signpost.dev/project":"shop","signpost.dev/logical-cloud":"eu"}},
		"spec":{"selector":{"a":"b"},"ports":[{"name":"dns","port":53,"protocol":"UDP","targetPort":"dns"},{"name":"dns-tcp","port":53,"protocol":"TCP","targetPort":"dns-tcp"}]}}`
	ourConfig  = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ours","namespace":"additions","labels":{"signpost.dev/project":"shop","signpost.dev/logical-cloud":"eu"}},"data":{"Corefile":"."}}`
	anAppsOwn  = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"theirs","namespace":"additions","labels":{"signpost.dev/project":"shop","signpost.dev/app":"web"}},"data":{"a":"b"}}`
	container2 = `{"spec":{"template":{"spec":{"containers":[{"name":"evil","image":"y:1"}],"tolerations":[{"operator":"Exists"}],"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1"]}}}}}`
)

// edit changes an object as kubectl does, and brings it to the state that is wanted.
func edit(t *testing.T, server *kube.Server, k *kubeapi.Kubernetes, resource, manager, patch string, o bundle.Object) cluster.Live {
	t.Helper()
	client := server.Client.CoreV1().RESTClient()
	at := "/api/v1/namespaces/additions/"
	if o.Group != "" {
		at = "/apis/" + o.Group + "/v1/namespaces/additions/"
	}
	require.NoError(t, client.Patch(types.StrategicMergePatchType).AbsPath(at+resource+"/"+o.Name).
		Param("fieldManager", manager).Body([]byte(patch)).Do(t.Context()).Error())
	before, err := k.Get(t.Context(), o.ID)
	require.NoError(t, err)
	if manager != "kubectl-rollout" {
		require.Equal(t, manager, before.ChangedBy)
	}
	live, err := k.Apply(t.Context(), o, before.Version)
	require.NoError(t, err)
	return live
}

func rendered(t *testing.T, k *kubeapi.Kubernetes, text string) bundle.Object {
	t.Helper()
	o, err := bundle.New("edge+hub", "dns", json.RawMessage(text))
	require.NoError(t, err)
	live, err := k.Create(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, live.Additions, "what the API server fills in is nobody's")
	return o
}

// TestWhatOthersAddIsSeenAndTakenOut of pod templates and Service specs, by a real API
// server: what that has filled in or allocated stays, and so does what else is ours.
func TestWhatOthersAddIsSeenAndTakenOut(t *testing.T) {
	server := start(t)
	require.NoError(t, server.Namespace(t.Context(), "additions"))
	k, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation})
	require.NoError(t, err)
	t.Cleanup(k.Close)

	t.Run("a Deployment's pods", func(t *testing.T) {
		o := rendered(t, k, ourDeployment)
		deployments := server.Client.AppsV1().Deployments("additions")
		template := func() corev1.PodTemplateSpec {
			d, err := deployments.Get(t.Context(), "ours", metav1.GetOptions{})
			require.NoError(t, err)
			return d.Spec.Template
		}
		before := template()
		live := edit(t, server, k, "deployments", "kubectl-edit", container2, o)
		require.Contains(t, live.Additions.Exclusive, `spec.template.spec.containers[name="evil"]`)
		require.Contains(t, live.Additions.Exclusive, "spec.template.spec.tolerations")
		live, err := k.Restore(t.Context(), o, live.Version)
		require.NoError(t, err)
		require.Empty(t, live.Additions)
		require.Equal(t, before, template())

		again, err := k.Apply(t.Context(), o, live.Version)
		require.NoError(t, err)
		require.Equal(t, live.Version, again.Version, "nothing is left to change")
		_, err = k.Restore(t.Context(), o, cluster.Version{UID: live.UID, ResourceVersion: "1"})
		require.Equal(t, fault.Stale, fault.Of(err))
	})
	t.Run("what is not a drift", func(t *testing.T) {
		o := rendered(t, k, ourDaemonSet)
		restart := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-22T20:00:00Z"}}}}}`
		live := edit(t, server, k, "daemonsets", "kubectl-rollout", restart, o)
		require.Empty(t, live.Additions)
		live = edit(t, server, k, "daemonsets", "kubectl-edit", `{"spec":{"template":{"metadata":{"annotations":{"other":"x"}}}}}`, o)
		require.NotEmpty(t, live.Additions.Exclusive)
		_, err := k.Restore(t.Context(), o, live.Version)
		require.NoError(t, err)
		d, err := server.Client.AppsV1().DaemonSets("additions").Get(t.Context(), "ours", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-11-22T20:00:00Z"}, d.Spec.Template.Annotations)
		_, err = server.Client.AppsV1().DaemonSets("additions").UpdateStatus(t.Context(), withStatus(d), metav1.UpdateOptions{FieldManager: "kube-controller-manager"})
		require.NoError(t, err)
		seen, err := k.Get(t.Context(), o.ID)
		require.NoError(t, err)
		require.NotEqual(t, "kube-controller-manager", seen.ChangedBy, "a status is not a change")
	})
	t.Run("a Service", func(t *testing.T) {
		o := rendered(t, k, ourService)
		services := server.Client.CoreV1().Services("additions")
		before, err := services.Get(t.Context(), "ours", metav1.GetOptions{})
		require.NoError(t, err)
		live := edit(t, server, k, "services", "kubectl-edit", `{"spec":{"externalIPs":["192.0.2.7"],"ports":[{"name":"more","port":80,"protocol":"TCP"}],"sessionAffinity":"ClientIP"}}`, o)
		require.Contains(t, live.Additions.Exclusive, "spec.externalIPs")
		_, err = k.Restore(t.Context(), o, live.Version)
		require.NoError(t, err)
		after, err := services.Get(t.Context(), "ours", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, before.Spec, after.Spec)
	})
	t.Run("elsewhere", func(t *testing.T) {
		live := edit(t, server, k, "configmaps", "kubectl-edit", `{"data":{"extra":"x"},"metadata":{"labels":{"mine":"x"}}}`, rendered(t, k, ourConfig))
		require.Equal(t, cluster.Additions{Other: []string{"data.extra (kubectl-edit)"}}, live.Additions)
		live = edit(t, server, k, "configmaps", "kubectl-edit", `{"data":{"extra":"x"}}`, rendered(t, k, anAppsOwn))
		require.Empty(t, live.Additions, "an app's manifests are its own")
	})
}

func withStatus(d *appsv1.DaemonSet) *appsv1.DaemonSet {
	d.Status.NumberReady, d.Status.DesiredNumberScheduled = 1, 1
	return d
}
