package grant

import (
	"slices"
	"strings"
)

// Kinds are granted kinds, written "group/Kind", or "group/*" for all of a group.
type Kinds []string

// Hold reports whether a kind is granted.
func (k Kinds) Hold(group, kind string) bool {
	return slices.Contains(k, group+"/"+kind) || slices.Contains(k, group+"/*")
}

// Common reports whether a kind needs no grant: it is of Kubernetes' own, and its
// objects are in a namespace.
func Common(group, kind string) bool {
	var known []string
	switch group {
	case "":
		known = []string{
			"ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate",
			"ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount",
		}
	case "apps": // a ControllerRevision holds a template of pods that a controller may adopt
		known = []string{"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}
	case "autoscaling":
		known = []string{"HorizontalPodAutoscaler"}
	case "batch":
		known = []string{"CronJob", "Job"}
	case "coordination.k8s.io":
		known = []string{"Lease"}
	case "discovery.k8s.io":
		known = []string{"EndpointSlice"}
	case "events.k8s.io":
		known = []string{"Event"}
	case "networking.k8s.io":
		known = []string{"Ingress", "NetworkPolicy"}
	case "policy":
		known = []string{"PodDisruptionBudget"}
	case "resource.k8s.io":
		known = []string{"ResourceClaim", "ResourceClaimTemplate"}
	}
	return slices.Contains(known, kind)
}

// Group is the API group of an apiVersion, empty for Kubernetes' core group.
func Group(apiVersion string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return ""
	}
	return group
}
