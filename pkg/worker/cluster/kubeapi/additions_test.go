package kubeapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// by is what a manager is noted to manage, in second n.
func by(manager, subresource, fields string, n int) metav1.ManagedFieldsEntry {
	at := metav1.NewTime(time.Date(2026, 11, 1, 12, 0, n, 0, time.UTC))
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &at, FieldsV1: metav1.NewFieldsV1(fields)}
}

const (
	oursInPods   = `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"dns\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`
	evilInPods   = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"evil\"}":{".":{},"f:image":{},"f:name":{}}},"f:tolerations":{}}}}}`
	restartsPods = `{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}}}}}}`
)

func TestAdditionsAreWhatOthersManageAlone(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		kind   cluster.Kind
		fields []metav1.ManagedFieldsEntry
		want   cluster.Additions
	}{
		"nothing": {cluster.DeploymentKind(), []metav1.ManagedFieldsEntry{by(FieldManager, "", oursInPods, 1)}, cluster.Additions{}},
		"a container and tolerations": {cluster.DeploymentKind(), []metav1.ManagedFieldsEntry{by(FieldManager, "", oursInPods, 1), by("kubectl-edit", "", evilInPods, 2)},
			cluster.Additions{Exclusive: []string{
				`spec.template.spec.containers[name="evil"]`, `spec.template.spec.containers[name="evil"].image`,
				`spec.template.spec.containers[name="evil"].name`, "spec.template.spec.tolerations",
			}}},
		"what is ours, too":   {cluster.DeploymentKind(), []metav1.ManagedFieldsEntry{by(FieldManager, "", oursInPods, 1), by("kubectl-edit", "", oursInPods, 2)}, cluster.Additions{}},
		"a restart":           {cluster.DeploymentKind(), []metav1.ManagedFieldsEntry{by(FieldManager, "", oursInPods, 1), by("kubectl-rollout", "", restartsPods, 2)}, cluster.Additions{}},
		"a status":            {serviceKind(), []metav1.ManagedFieldsEntry{by("cloud", "status", `{"f:status":{"f:loadBalancer":{}}}`, 1)}, cluster.Additions{}},
		"a scale":             {cluster.DeploymentKind(), []metav1.ManagedFieldsEntry{by("hpa", "scale", `{"f:spec":{"f:replicas":{}}}`, 1)}, cluster.Additions{}},
		"labels":              {serviceKind(), []metav1.ManagedFieldsEntry{by("mesh", "", `{"f:metadata":{"f:labels":{"f:mine":{}}}}`, 1)}, cluster.Additions{}},
		"addresses":           {serviceKind(), []metav1.ManagedFieldsEntry{by("kubectl-edit", "", `{"f:spec":{"f:externalIPs":{}}}`, 1)}, cluster.Additions{Exclusive: []string{"spec.externalIPs"}}},
		"a key of a file":     {cluster.Kind{Kind: "ConfigMap"}, []metav1.ManagedFieldsEntry{by("kubectl-edit", "", `{"f:data":{"f:extra":{}}}`, 1)}, cluster.Additions{Other: []string{"data.extra (kubectl-edit)"}}},
		"beside the template": {cluster.DeploymentKind(), []metav1.ManagedFieldsEntry{by("kubectl-edit", "", `{"f:spec":{"f:paused":{}}}`, 1)}, cluster.Additions{Other: []string{"spec.paused (kubectl-edit)"}}},
		"an account's secrets, which OpenShift makes": {cluster.Kind{Kind: "ServiceAccount"}, []metav1.ManagedFieldsEntry{by("openshift", "", `{"f:imagePullSecrets":{},"f:secrets":{}}`, 1)}, cluster.Additions{}},
		"what cannot be read":                         {serviceKind(), []metav1.ManagedFieldsEntry{by("odd", "", `{"f:spec"`, 1), {Manager: "odder"}}, cluster.Additions{}},
	} {
		assert.Equal(t, c.want, additionsOf(c.kind, c.fields), reason)
	}
}

func TestWhoHasChangedAnObjectLast(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "kubectl-edit", changedBy([]metav1.ManagedFieldsEntry{
		by("kubectl-edit", "", evilInPods, 5), by("argocd", "", evilInPods, 4), by(FieldManager, "", oursInPods, 6), by("controller", "status", `{"f:status":{}}`, 7),
		by("kube-controller-manager", "", `{"f:metadata":{"f:annotations":{"f:deployment.kubernetes.io/revision":{}}}}`, 8), by("kubectl-rollout", "", restartsPods, 9),
	}))
	assert.Empty(t, changedBy(nil))
}

// TestWhatIsTakenOutLeavesItsNeighbours: fields, and items of lists by their keys.
func TestWhatIsTakenOutLeavesItsNeighbours(t *testing.T) {
	t.Parallel()
	const before = `{"spec":{"a":1,"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP","x":1}],"set":["a","b"]}}`
	key := fieldpath.KeyByFields("port", int64(53), "protocol", "TCP")
	for want, path := range map[string]fieldpath.Path{
		`{"spec":{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP","x":1}],"set":["a","b"]}}`: fieldpath.MakePathOrDie("spec", "a"),
		`{"spec":{"a":1,"ports":[{"port":53,"protocol":"UDP"}],"set":["a","b"]}}`:                              fieldpath.MakePathOrDie("spec", "ports", key),
		`{"spec":{"a":1,"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"}],"set":["a","b"]}}`: fieldpath.MakePathOrDie("spec", "ports", key, "x"),
		before: fieldpath.MakePathOrDie("spec", "none", "b"),
	} {
		var node map[string]any
		require.NoError(t, json.Unmarshal([]byte(before), &node))
		raw, err := json.Marshal(without(node, path))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(raw))
	}
}
