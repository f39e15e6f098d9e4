// Package podspec finds the pods that a Kubernetes object makes: where in a
// manifest their spec is.
package podspec

import "strings"

// Place is where a manifest has the spec of its pods.
type Place struct {
	Fields []string // the names of the fields that lead to it, from the top
	Known  bool     // the kind is one of Kubernetes' workloads; else it only looks like one
}

// Find answers where the spec of a manifest's pods is; ok is false for what makes
// no pods. Known are Pod, Deployment, StatefulSet, DaemonSet, ReplicaSet,
// ReplicationController, Job, CronJob and PodTemplate. Of other kinds,
// spec.template or template is one if it has a spec with containers, as for an
// extension's rollout.
func Find(manifest map[string]any) (place Place, ok bool) {
	version, _ := manifest["apiVersion"].(string)
	kind, _ := manifest["kind"].(string)
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	switch group + "/" + kind {
	case "/Pod":
		return Place{[]string{"spec"}, true}, true
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet", "/ReplicationController", "batch/Job":
		return Place{[]string{"spec", "template", "spec"}, true}, true
	case "/PodTemplate":
		return Place{[]string{"template", "spec"}, true}, true
	case "batch/CronJob":
		return Place{[]string{"spec", "jobTemplate", "spec", "template", "spec"}, true}, true
	}
	for _, fields := range [][]string{{"spec", "template", "spec"}, {"template", "spec"}} {
		if _, containers := At(manifest, fields)["containers"].([]any); containers {
			return Place{fields, false}, true
		}
	}
	return Place{}, false
}

// At is the object below these fields, nil where there is none.
func At(manifest map[string]any, fields []string) map[string]any {
	for _, field := range fields {
		manifest, _ = manifest[field].(map[string]any)
	}
	return manifest
}
