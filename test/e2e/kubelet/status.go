package kubelet

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeStatus writes the Deployment's status as its controller does, where it
// differs.
func (k *Kubelet) writeStatus(ctx context.Context, deployment *appsv1.Deployment, ready bool) error {
	status := appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation}
	available := corev1.ConditionFalse
	if replicas(deployment) > 0 {
		status.Replicas, status.UpdatedReplicas, status.UnavailableReplicas = 1, 1, 1
	}
	if ready {
		status.ReadyReplicas, status.AvailableReplicas, status.UnavailableReplicas = 1, 1, 0
	}
	if ready || replicas(deployment) == 0 {
		available = corev1.ConditionTrue
	}
	status.Conditions = []appsv1.DeploymentCondition{condition(deployment, available)}
	if equality.Semantic.DeepEqual(status, deployment.Status) {
		return nil
	}
	deployment.Status = status
	_, err := k.server.Client.AppsV1().Deployments(deployment.Namespace).UpdateStatus(ctx, deployment, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // the next round sees it as it is
	}
	return err
}

// condition is the condition Available; its times stay while it does.
func condition(deployment *appsv1.Deployment, status corev1.ConditionStatus) appsv1.DeploymentCondition {
	for _, old := range deployment.Status.Conditions {
		if old.Type == appsv1.DeploymentAvailable && old.Status == status {
			return old
		}
	}
	reason := "MinimumReplicasUnavailable"
	if status == corev1.ConditionTrue {
		reason = "MinimumReplicasAvailable"
	}
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	return appsv1.DeploymentCondition{
		Type: appsv1.DeploymentAvailable, Status: status, Reason: reason,
		LastUpdateTime: now, LastTransitionTime: now,
	}
}

// createObject makes the Pod of a pod.
func (p *pod) createObject(ctx context.Context, k *Kubelet) error {
	template := p.deployment.Spec.Template
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: p.name(), Namespace: p.deployment.Namespace,
			Labels: template.Labels, Annotations: template.Annotations,
		},
		Spec: template.Spec,
	}
	object.Spec.NodeName = "node"
	_, err := k.server.Client.CoreV1().Pods(object.Namespace).Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) { // left by an earlier life
		return nil
	}
	return err
}

// writeStatus writes where the Pod runs, how its container does, and whether
// it is ready, where that differs from what was written.
func (p *pod) writeStatus(ctx context.Context, k *Kubelet, ready bool) error {
	now := p.status(ready)
	if equality.Semantic.DeepEqual(now, p.told) {
		return nil
	}
	pods := k.server.Client.CoreV1().Pods(p.deployment.Namespace)
	object, err := pods.Get(ctx, p.name(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("pod status: %w", err)
	}
	object.Status = now
	if _, err = pods.UpdateStatus(ctx, object, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("pod status: %w", err)
	}
	p.told = now
	return nil
}

func (p *pod) status(ready bool) corev1.PodStatus {
	phase, condition := corev1.PodPending, corev1.ConditionFalse
	if !p.life.began.IsZero() {
		phase = corev1.PodRunning
	}
	if ready {
		condition = corev1.ConditionTrue
	}
	conditions := []corev1.PodCondition{{Type: corev1.PodReady, Status: condition}, {Type: corev1.ContainersReady, Status: condition}}
	return corev1.PodStatus{
		Phase: phase, PodIP: p.ip, PodIPs: []corev1.PodIP{{IP: p.ip}}, Conditions: conditions,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: p.spec().Name, Image: p.spec().Image, Ready: ready,
			State: p.life.state, LastTerminationState: p.life.last, RestartCount: p.life.restarts,
		}},
	}
}

// deleteObject removes the Pod at once.
func (p *pod) deleteObject(ctx context.Context, k *Kubelet) error {
	err := k.server.Client.CoreV1().Pods(p.deployment.Namespace).Delete(ctx, p.name(),
		metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
