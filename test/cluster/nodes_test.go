package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/cluster"
	"github.com/signpost-dns/signpost/pkg/placement"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// join has a node be in the cluster with exactly these labels and taints. One
// that is made gets a taint from the API server, as it is not ready yet.
func join(t *testing.T, server *kube.Server, node placement.Node) {
	t.Helper()
	api := server.Client.CoreV1().Nodes()
	object, err := api.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		object, err = api.Get(t.Context(), node.Name, metav1.GetOptions{})
	}
	require.NoError(t, err)
	object.Labels, object.Spec.Taints = node.Labels, nil
	for _, taint := range node.Taints {
		object.Spec.Taints = append(object.Spec.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
	}
	_, err = api.Update(t.Context(), object, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// beat writes what a kubelet writes into its node's status at times.
func beat(t *testing.T, server *kube.Server, node string) {
	t.Helper()
	api := server.Client.CoreV1().Nodes()
	object, err := api.Get(t.Context(), node, metav1.GetOptions{})
	require.NoError(t, err)
	was := object.ResourceVersion
	object.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(),
	}}
	object.Status.NodeInfo.BootID = time.Now().Format(time.RFC3339Nano)
	object, err = api.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NotEqual(t, was, object.ResourceVersion)
}

// A plan that is made before anything was observed looks at the nodes itself.
func TestNodesAreLookedAtOnce(t *testing.T) {
	server := start(t)
	target, err := cluster.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	nodes, err := target.Nodes(t.Context())
	require.NoError(t, err)
	require.NotNil(t, nodes, "there are none, which is known")
	require.Empty(t, nodes)
	b := placement.Node{Name: "b", Labels: map[string]string{"disktype": "ssd"}, Taints: []placement.Taint{{Key: "k", Effect: "NoExecute"}}}
	join(t, server, b)
	join(t, server, placement.Node{Name: "a"})
	nodes, err = target.Nodes(t.Context())
	require.NoError(t, err)
	require.Equal(t, []placement.Node{{Name: "a"}, b}, nodes)
}

// Whoever may not see the nodes does not know that there are none.
func TestNodesThatMayNotBeSeenAreUnknown(t *testing.T) {
	server := start(t)
	config := server.Config()
	config.Impersonate.UserName = "signpost"
	target, err := cluster.NewKubernetes(config, cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	w := target.Watch(t.Context(), cluster.Notify{Objects: func() {}, Addresses: func() {}, Pods: func() {}})
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Nodes: true})
	require.Eventually(t, func() bool { return cluster.FaultOf(w.Trouble()) == cluster.Refused }, patience, tick, "and says so")
	require.ErrorContains(t, w.Trouble(), "nodes")
	_, known := w.Nodes()
	require.False(t, known)
	_, err = target.Nodes(t.Context())
	require.Equal(t, cluster.Refused, cluster.FaultOf(err), "%v", err)
}
