package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

func nodeKind() cluster.Kind { return cluster.Kind{Kind: "Node"} }

// node is what is kept of a Node: what a placement looks at, and what leads to
// the node. A heartbeat changes nothing of that.
type node struct {
	placement.Node
	offers   []address.Candidate
	ready    bool // as far as is known
	excluded bool // load balancers are to leave it out
}

func (k *Kubernetes) nodeFeed(_ cluster.Kind, notify cluster.Notify) *feed {
	return feedOf(k.core.Nodes(), "", func(change) { notify.Addresses("", "") }, keeping(func(n *corev1.Node) entry { return entry{node: leadingNode(n)} }))
}

func leadingNode(n *corev1.Node) *node {
	kept := &node{Node: nodeOf(n), ready: true}
	_, kept.excluded = n.Labels[corev1.LabelNodeExcludeBalancers]
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			kept.ready = condition.Status == corev1.ConditionTrue
		}
	}
	for i, at := range n.Status.Addresses {
		c := address.Candidate{Kind: address.Node, Object: "Node " + n.Name, Target: at.Address, Field: fmt.Sprintf("status.addresses[%d].address", i)}
		switch at.Type {
		case corev1.NodeInternalIP:
			c.Kind = address.NodeInternal
		case corev1.NodeExternalIP:
		default:
			continue
		}
		kept.offers = append(kept.offers, c)
	}
	return kept
}

func nodeOf(n *corev1.Node) placement.Node {
	node := placement.Node{Name: n.Name, Labels: n.Labels}
	for _, taint := range n.Spec.Taints {
		node.Taints = append(node.Taints, placement.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)})
	}
	return node
}

func byName(a, b placement.Node) int { return strings.Compare(a.Name, b.Name) }

func (w *watches) Nodes() ([]placement.Node, bool) {
	w.mu.Lock()
	r, placing := w.nodes[nodeKind()], w.placing
	w.mu.Unlock()
	if r == nil || !placing {
		return nil, false
	}
	entries, err := r.feed.all()
	if err != nil {
		return nil, false
	}
	return nodesOf(entries), true
}

func nodesOf(entries []entry) []placement.Node {
	nodes := make([]placement.Node, 0, len(entries))
	for _, e := range entries {
		nodes = append(nodes, e.node.Node)
	}
	slices.SortFunc(nodes, byName)
	return nodes
}

// Nodes looks at all nodes, once, ordered by name.
func (k *Kubernetes) Nodes(ctx context.Context) ([]placement.Node, error) {
	f := k.nodeFeed(nodeKind(), cluster.Quiet())
	f.budget = k.budget
	defer f.forget()
	if err := f.relist(ctx); err != nil {
		return nil, err
	}
	entries, err := f.all()
	return nodesOf(entries), err
}
