package cluster_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/kubelet"
)

// pods plays the kubelet of a namespace, whose pods have addresses of their
// own.
func pods(server *kube.Server, namespace string, number int32) func(*testing.T, clustertest.RunPod) {
	made := 0
	return func(t *testing.T, pod clustertest.RunPod) {
		t.Helper()
		made++
		ip := fmt.Sprintf("10.77.%d.%d", number, made)
		api := server.Client.CoreV1().Pods(namespace)
		object, err := api.Create(t.Context(), podObject(pod, serve(t, ip, pod.Metrics)), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			object, err = api.Get(t.Context(), pod.Name, metav1.GetOptions{})
		}
		require.NoError(t, err)
		object.Status = podStatus(pod, ip)
		_, err = api.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
}

// serve has a pod's address serve metrics at a port, of which nothing answers
// where there are none.
func serve(t *testing.T, podIP, metrics string) int32 {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", kubelet.HostIP(podIP)+":0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	number, err := strconv.ParseInt(port, 10, 32)
	require.NoError(t, err)
	if metrics == "" {
		require.NoError(t, listener.Close())
		return int32(number)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(metrics))
	}))
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return int32(number)
}

func podObject(pod clustertest.RunPod, port int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Labels: map[string]string{bundle.LabelProject: "shop", bundle.LabelRecord: "lab"}},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{
			Name: "external-dns", Image: "registry.example/external-dns:v0.22.0", Args: []string{"--interval=5s"},
			Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: port}},
			Env: []corev1.EnvVar{{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "credentials"}, Key: "key"}}}},
		}}},
	}
}

func podStatus(pod clustertest.RunPod, ip string) corev1.PodStatus {
	container := corev1.ContainerStatus{Name: "external-dns", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ready := corev1.ConditionTrue
	if pod.Crash != "" {
		ready = corev1.ConditionFalse
		container.RestartCount = 3
		container.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		container.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: pod.Crash}}
	}
	return corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		ContainerStatuses: []corev1.ContainerStatus{container},
	}
}

// note writes into a DNSEndpoint's status what external-dns writes.
func note(t *testing.T, server *kube.Server, id bundle.ID) {
	t.Helper()
	api := server.Dynamic.Resource(schema.GroupVersionResource{Group: id.Group, Version: "v1alpha1", Resource: "dnsendpoints"}).Namespace(id.Namespace)
	object, err := api.Get(t.Context(), id.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(object.Object, object.GetGeneration(), "status", "observedGeneration"))
	_, err = api.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// Rights are given one by one: without those to pods, everything else goes on.
func TestPodsThatMayNotBeSeenAreNoTrouble(t *testing.T) {
	server := start(t)
	require.NoError(t, server.Apply(t.Context(), strings.ReplaceAll(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules: [{apiGroups: [""], resources: [namespaces, configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: signpost}]
`, "NAME", "no-pods")))
	config := server.Config()
	config.Impersonate.UserName = "signpost"
	target, err := kubeapi.NewKubernetes(config, cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	w := target.Watch(t.Context(), cluster.Quiet())
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Kinds: []cluster.Kind{{Kind: "ConfigMap"}}, Pods: []string{"default"}})
	require.Eventually(t, func() bool {
		_, err := w.Pods("default", nil)
		return fault.Of(err) == fault.Refused
	}, patience, tick)
	require.Eventually(t, func() bool { return w.Object(bundle.ID{Kind: "ConfigMap", Namespace: "default", Name: "a"}, "").Known }, patience, tick)
	require.NoError(t, w.Trouble(), "nothing is kept from being applied")
	_, err = target.Metrics(t.Context(), "default", "lab-1", 7979)
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "pods")
}
