package cluster

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func deploymentKind() Kind { return Kind{"apps", "Deployment"} }

func daemonSetKind() Kind { return Kind{"apps", "DaemonSet"} }

// workloadFeed watches Deployments or DaemonSets whole, for how they do.
func workloadFeed[L runtime.Object](api listed[L], selector string, notify Notify) *feed {
	return feedOf(api, selector, func() { notify.Objects(); notify.Addresses() }, func(object runtime.Object) (entry, error) {
		kept, err := keepLive(object)
		switch workload := object.(type) {
		case *appsv1.Deployment:
			kept.availability = availabilityOf(workload)
		case *appsv1.DaemonSet:
			kept.availability = coverageOf(workload)
		}
		return kept, err
	})
}

// Deployment implements Watches.
func (w *watches) Deployment(namespace, name string) (*Availability, bool) {
	return w.workload(deploymentKind(), namespace, name)
}

// DaemonSet implements Watches.
func (w *watches) DaemonSet(namespace, name string) (*Availability, bool) {
	return w.workload(daemonSetKind(), namespace, name)
}

func (w *watches) workload(kind Kind, namespace, name string) (*Availability, bool) {
	f := w.kind(kind)
	if f == nil {
		return nil, false
	}
	found, known := f.look(namespace, name, "")
	if found == nil {
		return nil, known
	}
	return found.availability, known
}

// availabilityOf judges a Deployment by its own status, once the controller
// has seen its latest generation.
func availabilityOf(d *appsv1.Deployment) *Availability {
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

// coverageOf judges a DaemonSet by its own status, once the controller has seen
// its latest generation.
func coverageOf(d *appsv1.DaemonSet) *Availability {
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
