// Package placement judges on which nodes of a cluster the pods of a DaemonSet
// may run, with Kubernetes' own matching functions. It is pure.
package placement

import "github.com/signpost-dns/signpost/pkg/intent"

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
