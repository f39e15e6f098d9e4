package kubeapi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// metricsPort is the name of the port for metrics.
const metricsPort = "metrics"

// podFeed watches the pods of a namespace that belong to a record or to a DNS CR
// intent. They are made by Deployments and DaemonSets and do not carry the
// installation's label; both carry the project's.
func (k *Kubernetes) podFeed(namespace string, notify cluster.Notify) *feed {
	return feedOf(k.core.Pods(namespace), bundle.LabelProject, func(change) { notify.Pods() }, keeping(func(p *corev1.Pod) entry { return entry{pod: podOf(p)} }))
}

// podOf takes what matters out of a Pod; nil for one that is on its way out.
func podOf(p *corev1.Pod) *cluster.Pod {
	if p.DeletionTimestamp != nil {
		return nil
	}
	pod := &cluster.Pod{
		Name: p.Name, Labels: p.Labels, Created: p.CreationTimestamp.Time,
		Trouble: podTrouble(p), Secrets: secretsOf(p.Spec), Ports: map[string]int32{},
		Ready: slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}),
	}
	if len(p.Spec.Containers) > 0 {
		first := p.Spec.Containers[0]
		pod.Args = first.Args
		for _, port := range first.Ports {
			pod.Ports[port.Name] = port.ContainerPort
		}
	}
	if port, err := strconv.ParseUint(p.Annotations[bundle.AnnotationMetrics], 10, 16); err == nil && port > 0 && pod.Ports[metricsPort] == 0 {
		pod.Ports[metricsPort] = int32(port)
	}
	pod.Waiting = pod.Trouble == "" && p.Status.Phase == corev1.PodPending
	return pod
}

// podTrouble says why a pod does not run as it should. It is the reason of the first
// container that has one, else the scheduler's, else that it is not ready.
func podTrouble(p *corev1.Pod) string {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if trouble := containerTrouble(s); trouble != "" {
			return "pod " + p.Name + ": " + trouble
		}
	}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			return "pod " + p.Name + " cannot be scheduled: " + cmp.Or(c.Message, c.Reason)
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && p.Status.Phase == corev1.PodRunning:
			return "pod " + p.Name + " runs and is not ready" + earlierEnding(p.Status.ContainerStatuses)
		}
	}
	return ""
}

func containerTrouble(s corev1.ContainerStatus) string {
	if waiting := s.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "CrashLoopBackOff":
			return "container " + s.Name + " is in a crash loop: " + ending(s)
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
			return "container " + s.Name + ": image " + s.Image + " cannot be pulled: " + cmp.Or(waiting.Message, waiting.Reason)
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return "container " + s.Name + " cannot be started: " + cmp.Or(waiting.Message, waiting.Reason)
		}
	}
	if ended := s.State.Terminated; ended != nil && ended.ExitCode != 0 {
		return "container " + s.Name + " ended and is started again: " + ending(s)
	}
	return ""
}

// ending tells how a container ended last.
func ending(s corev1.ContainerStatus) string {
	last := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated)
	if last == nil {
		return fmt.Sprintf("%d restarts", s.RestartCount)
	}
	text := fmt.Sprintf("exit code %d, %d restarts", last.ExitCode, s.RestartCount)
	if said := lastLine(last.Message); said != "" {
		return text + "; its last words: " + said
	}
	return text
}

// earlierEnding tells how a container ended before that runs again.
func earlierEnding(statuses []corev1.ContainerStatus) string {
	for _, s := range statuses {
		if before := s.LastTerminationState.Terminated; before != nil && before.ExitCode != 0 {
			return "; container " + s.Name + " ended before: " + ending(s)
		}
	}
	return ""
}

// longestWords bounds, in bytes, what is repeated of a container's log.
const longestWords = 500

// lastLine is the last line of a text that has any, shortened.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if len(line) > longestWords {
		line = strings.ToValidUTF8(line[:longestWords], "") + "…"
	}
	return line
}

// secretsOf names the Secrets without which the containers cannot start.
func secretsOf(spec corev1.PodSpec) []string {
	var names []string
	need := func(name string, optional *bool) {
		if optional == nil || !*optional {
			names = append(names, name)
		}
	}
	for _, volume := range spec.Volumes {
		if volume.Secret != nil {
			need(volume.Secret.SecretName, volume.Secret.Optional)
		}
	}
	for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, variable := range container.Env {
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				need(variable.ValueFrom.SecretKeyRef.Name, variable.ValueFrom.SecretKeyRef.Optional)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (w *watches) Pods(namespace string, labels map[string]string) ([]cluster.Pod, error) {
	w.mu.Lock()
	r := w.pods[namespace]
	w.mu.Unlock()
	if r == nil {
		return nil, &fault.Error{Fault: fault.Unreachable, Message: "the pods have not been listed yet"}
	}
	entries, err := r.feed.all()
	if err != nil {
		return nil, err
	}
	var pods []cluster.Pod
	for _, e := range entries {
		if e.pod != nil && intent.HasLabels(e.pod.Labels, labels) {
			pods = append(pods, *e.pod)
		}
	}
	slices.SortFunc(pods, func(a, b cluster.Pod) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.Name, b.Name))
	})
	return pods, nil
}
