package cluster

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signpost-dns/signpost/pkg/placement"
)

func nodeKind() Kind { return Kind{Kind: "Node"} }

// nodeFeed watches all nodes, of which nothing is kept but what a placement
// looks at: a heartbeat changes nothing of that.
func (k *Kubernetes) nodeFeed(_ Kind, notify Notify) *feed {
	return feedOf(k.core.Nodes(), "", notify.Addresses, func(object runtime.Object) (entry, error) {
		node, ok := object.(*corev1.Node)
		if !ok {
			return entry{}, &Error{Fault: Unreachable, Message: "a list of Nodes holds something else"}
		}
		kept := nodeOf(node)
		return entry{node: &kept}, nil
	})
}

func nodeOf(n *corev1.Node) placement.Node {
	node := placement.Node{Name: n.Name, Labels: n.Labels}
	for _, taint := range n.Spec.Taints {
		node.Taints = append(node.Taints, placement.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)})
	}
	return node
}

func byName(a, b placement.Node) int { return strings.Compare(a.Name, b.Name) }

// Nodes implements Watches.
func (w *watches) Nodes() ([]placement.Node, bool) {
	w.mu.Lock()
	r := w.nodes[nodeKind()]
	w.mu.Unlock()
	if r == nil {
		return nil, false
	}
	entries, err := r.feed.all()
	if err != nil {
		return nil, false
	}
	nodes := make([]placement.Node, 0, len(entries))
	for _, e := range entries {
		nodes = append(nodes, *e.node)
	}
	slices.SortFunc(nodes, byName)
	return nodes, true
}

// Nodes looks at all nodes, once, ordered by name.
func (k *Kubernetes) Nodes(ctx context.Context) ([]placement.Node, error) {
	nodes := []placement.Node{}
	options := metav1.ListOptions{Limit: feedPage}
	for {
		list, err := k.core.Nodes().List(ctx, options)
		if err != nil {
			return nil, classify(err, reading)
		}
		for i := range list.Items {
			nodes = append(nodes, nodeOf(&list.Items[i]))
		}
		if list.Continue == "" {
			slices.SortFunc(nodes, byName)
			return nodes, nil
		}
		options.Continue = list.Continue
	}
}
