// Package placement judges on which nodes of a cluster the pods of a DaemonSet
// may run, with Kubernetes' own matching functions. It is pure.
package placement

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Placement says which nodes pods may run on.
type Placement struct {
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []intent.Toleration `json:"tolerations,omitempty"`
}

// Node is what a placement looks at.
type Node struct {
	Name   string
	Labels map[string]string
	Taints []Taint
}

// Taint is Kubernetes' taint of a node.
type Taint struct {
	Key, Value string
	Effect     string // NoSchedule, PreferNoSchedule, NoExecute
}

// Verdict is what a placement makes of a cluster's nodes.
type Verdict struct {
	Nodes    int         `json:"nodes"`              // of the cluster
	Suitable int         `json:"suitable"`           // that the pods may run on
	Excluded []Exclusion `json:"excluded,omitempty"` // why not on the others: each once, by its first reason
}

// Exclusion is what keeps pods from some nodes.
type Exclusion struct {
	Reason string `json:"reason"` // as in "label disktype=ssd is missing" or "taint dns-only:NoSchedule is not tolerated"
	Nodes  int    `json:"nodes"`
}

// Canonical is the placement in the one form that all placements of its meaning share.
// Tolerations have an operator and an order, and none is repeated.
func (p Placement) Canonical() Placement {
	out := Placement{}
	if len(p.NodeSelector) > 0 {
		out.NodeSelector = p.NodeSelector
	}
	for _, t := range p.Tolerations {
		t.Operator = cmp.Or(t.Operator, equal)
		out.Tolerations = append(out.Tolerations, t)
	}
	slices.SortFunc(out.Tolerations, compare)
	out.Tolerations = slices.CompactFunc(out.Tolerations, func(a, b intent.Toleration) bool { return compare(a, b) == 0 })
	return out
}

// equal is Kubernetes' default operator of a toleration.
const equal = "Equal"

func compare(a, b intent.Toleration) int {
	return cmp.Or(
		cmp.Compare(a.Key, b.Key), cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Value, b.Value),
		cmp.Compare(a.Effect, b.Effect), slices.Compare(seconds(a), seconds(b)))
}

// seconds are those of a toleration, if it has any.
func seconds(t intent.Toleration) []int64 {
	if t.TolerationSeconds == nil {
		return nil
	}
	return []int64{*t.TolerationSeconds}
}

// keyBytes is how much of a hash tells placements apart.
const keyBytes = 8

// Key is 16 hexadecimal digits that stand for the placement: the same for those
// of one canonical form, others for others.
func (p Placement) Key() string {
	canonical := p.Canonical()
	var text strings.Builder
	fmt.Fprintf(&text, "%q", canonical.NodeSelector) // a map is written in the order of its keys
	for _, t := range canonical.Tolerations {
		fmt.Fprintf(&text, "%q %q %q %q %d", t.Key, t.Operator, t.Value, t.Effect, seconds(t))
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:keyBytes])
}

// String says it in words, as in "1 of 3 nodes are suitable: label a=b is
// missing on 2".
func (v Verdict) String() string {
	text := fmt.Sprintf("%d of %d nodes are suitable", v.Suitable, v.Nodes)
	for n, e := range v.Excluded {
		separator := ", "
		if n == 0 {
			separator = ": "
		}
		text += fmt.Sprintf("%s%s on %d", separator, e.Reason, e.Nodes)
	}
	return text
}
