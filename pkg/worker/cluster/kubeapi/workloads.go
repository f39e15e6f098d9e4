package kubeapi

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// workloadFeed watches Deployments or DaemonSets whole, for how they do.
func workloadFeed[L runtime.Object](kind cluster.Kind, api listed[L], selector string, notify cluster.Notify) *feed {
	objects := ofObjects(kind, notify.Objects)
	return feedOf(api, selector, func(c change) { objects(c); notify.Workloads() }, func(object runtime.Object) (entry, error) {
		kept, err := keepLive(object)
		switch workload := object.(type) {
		case *appsv1.Deployment:
			kept.availability = cluster.AvailabilityOf(workload)
		case *appsv1.DaemonSet:
			kept.availability = cluster.CoverageOf(workload)
		}
		return kept, err
	})
}

func (w *watches) Deployment(namespace, name string) (*cluster.Availability, bool) {
	return w.workload(cluster.DeploymentKind(), namespace, name)
}

func (w *watches) DaemonSet(namespace, name string) (*cluster.Availability, bool) {
	return w.workload(cluster.DaemonSetKind(), namespace, name)
}

func (w *watches) workload(kind cluster.Kind, namespace, name string) (*cluster.Availability, bool) {
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
