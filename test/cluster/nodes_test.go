package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// join has a node be in the cluster with exactly these labels and taints.
func join(t *testing.T, server *kube.Server, node placement.Node) {
	t.Helper()
	var taints []corev1.Taint
	for _, taint := range node.Taints {
		taints = append(taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
	}
	require.NoError(t, server.SetNode(t.Context(), node.Name, node.Labels, taints...))
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
	target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Version: "test"})
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
	target, err := kubeapi.NewKubernetes(config, cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	w := target.Watch(t.Context(), cluster.Quiet())
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Nodes: true})
	require.Eventually(t, func() bool { return fault.Of(w.Trouble()) == fault.Refused }, patience, tick, "and says so")
	require.ErrorContains(t, w.Trouble(), "nodes")
	_, known := w.Nodes()
	require.False(t, known)
	_, err = target.Nodes(t.Context())
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
}
