package kubeapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

func TestDaemonSetIsAvailableWhenEachOfItsNodesHasAReadyPod(t *testing.T) {
	t.Parallel()
	status := func(observed int64, desired, ready, updated int32) appsv1.DaemonSetStatus {
		return appsv1.DaemonSetStatus{ObservedGeneration: observed, DesiredNumberScheduled: desired, NumberReady: ready, UpdatedNumberScheduled: updated}
	}
	for reason, c := range map[string]struct {
		status appsv1.DaemonSetStatus
		want   cluster.Availability
	}{
		"nobody has looked yet":           {appsv1.DaemonSetStatus{}, cluster.Availability{Message: "the DaemonSet controller has not seen the latest change"}},
		"the last change was not seen":    {status(1, 3, 3, 3), cluster.Availability{Desired: 3, Ready: 3, Message: "the DaemonSet controller has not seen the latest change"}},
		"no node will do":                 {status(2, 0, 0, 0), cluster.Availability{Message: "there is no node for its pods"}},
		"one is missing":                  {status(2, 3, 2, 3), cluster.Availability{Desired: 3, Ready: 2, Message: "2 of 3 pods are ready"}},
		"all are ready":                   {status(2, 3, 3, 3), cluster.Availability{Available: true, Desired: 3, Ready: 3}},
		"all are ready, some of old make": {status(2, 3, 3, 1), cluster.Availability{Available: true, Desired: 3, Ready: 3, Message: "its pods are being replaced: 1 of 3 are up to date"}},
	} {
		d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: c.status}
		assert.Equal(t, &c.want, cluster.CoverageOf(d), reason)
	}
}

func TestDeploymentIsAvailableWhenItsConditionSaysSo(t *testing.T) {
	t.Parallel()
	condition := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, message string) appsv1.DeploymentCondition {
		return appsv1.DeploymentCondition{Type: kind, Status: status, Message: message}
	}
	for reason, c := range map[string]struct {
		status appsv1.DeploymentStatus
		want   cluster.Availability
	}{
		"nobody has looked yet": {appsv1.DeploymentStatus{}, cluster.Availability{Message: "the Deployment controller has not seen the latest change"}},
		"no word yet":           {appsv1.DeploymentStatus{ObservedGeneration: 2}, cluster.Availability{Message: "the Deployment reports no condition yet"}},
		"it is": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, ReadyReplicas: 1, Conditions: []appsv1.DeploymentCondition{
				condition(appsv1.DeploymentAvailable, corev1.ConditionTrue, "fine")}},
			cluster.Availability{Available: true, Ready: 1},
		},
		"it is not": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, Conditions: []appsv1.DeploymentCondition{
				condition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "too few replicas")}},
			cluster.Availability{Message: "too few replicas"},
		},
		"its pods cannot be made": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, Conditions: []appsv1.DeploymentCondition{
				condition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "too few replicas"),
				condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "quota exceeded")}},
			cluster.Availability{Message: "quota exceeded"},
		},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: c.status}
		assert.Equal(t, &c.want, cluster.AvailabilityOf(d), reason)
	}
}
