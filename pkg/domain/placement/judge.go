package placement

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Judge finds the nodes where the DaemonSet controller would run pods of this placement
// that do not use the node's network, and the reasons that exclude others. The most
// common reason comes first. The order of nodes, of their taints and of tolerations is of
// no meaning.
func Judge(nodes []Node, p Placement) Verdict {
	tolerated := append(p.tolerations(), daemonTolerations()...)
	verdict := Verdict{Nodes: len(nodes)}
	excluded := map[string]int{}
	for _, node := range nodes {
		if reason := excludes(node.kubernetes(), p.NodeSelector, tolerated); reason != "" {
			excluded[reason]++
		} else {
			verdict.Suitable++
		}
	}
	for reason, nodes := range excluded {
		verdict.Excluded = append(verdict.Excluded, Exclusion{Reason: reason, Nodes: nodes})
	}
	slices.SortFunc(verdict.Excluded, func(a, b Exclusion) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Reason, b.Reason))
	})
	return verdict
}

// excludes is the first reason why pods may not run on the node, empty for
// none: labels go before taints, each by name.
func excludes(node *corev1.Node, selector map[string]string, tolerated []corev1.Toleration) string {
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		wants := &corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{key: selector[key]}}}
		if ok, _ := nodeaffinity.GetRequiredNodeAffinity(wants).Match(node); !ok { // no error: there is no affinity to read
			return "label " + key + "=" + selector[key] + " is missing"
		}
	}
	taint, found := scheduling.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, tolerated, repels, false)
	if found {
		return "taint " + taint.ToString() + " is not tolerated"
	}
	return ""
}

// repels tells whether a taint keeps pods away, and does not only make other
// nodes dearer.
func repels(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

// daemonTolerations are what the DaemonSet controller adds to all its pods, so
// that cordoned nodes and those that are not ready keep theirs. A node whose
// network is not there yet is for pods that use the node's own.
func daemonTolerations() []corev1.Toleration {
	exists := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	return []corev1.Toleration{
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
}

func (p Placement) tolerations() []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range p.Tolerations {
		out = append(out, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value,
			Effect: corev1.TaintEffect(t.Effect), TolerationSeconds: t.TolerationSeconds,
		})
	}
	return out
}

func (n Node) kubernetes() *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}
	for _, t := range n.Taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	slices.SortFunc(node.Spec.Taints, func(a, b corev1.Taint) int { return cmp.Compare(a.ToString(), b.ToString()) })
	return node
}
