package cluster

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// DeploymentKind is the kind of Deployments.
func DeploymentKind() Kind { return Kind{"apps", "Deployment"} }

// DaemonSetKind is the kind of DaemonSets.
func DaemonSetKind() Kind { return Kind{"apps", "DaemonSet"} }

// AvailabilityOf judges a Deployment by its own status, once the controller
// has seen its latest generation.
func AvailabilityOf(d *appsv1.Deployment) *Availability {
	a := &Availability{Ready: d.Status.ReadyReplicas}
	if d.Status.ObservedGeneration < d.Generation {
		a.Message = "the Deployment controller has not seen the latest change"
		return a
	}
	a.Message = "the Deployment reports no condition yet"
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue:
			a.Available, a.Message = true, ""
			return a
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue:
			a.Message = c.Message
			return a
		case c.Type == appsv1.DeploymentAvailable:
			a.Message = c.Message
		}
	}
	return a
}

// CoverageOf judges a DaemonSet by its own status, once the controller has seen
// its latest generation.
func CoverageOf(d *appsv1.DaemonSet) *Availability {
	status := d.Status
	a := &Availability{Desired: status.DesiredNumberScheduled, Ready: status.NumberReady}
	switch {
	case status.ObservedGeneration < d.Generation:
		a.Message = "the DaemonSet controller has not seen the latest change"
	case a.Desired == 0:
		a.Message = "there is no node for its pods"
	case a.Ready < a.Desired:
		a.Message = fmt.Sprintf("%d of %d pods are ready", a.Ready, a.Desired)
	case status.UpdatedNumberScheduled < a.Desired:
		a.Available, a.Message = true, fmt.Sprintf("its pods are being replaced: %d of %d are up to date", status.UpdatedNumberScheduled, a.Desired)
	default:
		a.Available = true
	}
	return a
}
