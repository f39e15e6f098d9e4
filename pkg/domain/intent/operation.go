package intent

import (
	"context"
	"time"
)

// Preflight tells whether Signpost could manage a cluster as it is now.
type Preflight struct {
	Reachable bool    `json:"reachable"`
	Version   string  `json:"version,omitempty"` // of the API server, empty where there is none
	Checks    []Check `json:"checks"`
}

// ServiceQuery asks for the Services of a cluster.
type ServiceQuery struct {
	Namespace string // empty: all namespaces
	Limit     int    // the most that a page holds
	After     string // Continue of the page before; empty: the first page
}

// ServicePage is a part of the Services of a cluster, by namespace and name.
type ServicePage struct {
	Items    []ClusterService `json:"items"` // never nil
	Continue string           `json:"continue,omitempty"`
	Message  string           `json:"message,omitempty"` // why the cluster can show none
}

// ClusterService is a Service as its cluster has it.
type ClusterService struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Type      string   `json:"type"`    // as in LoadBalancer
	Targets   []string `json:"targets"` // its load balancers and external IPs; never nil
}

// Check is one thing that a cluster needs to have or to allow.
type Check struct {
	Name    string `json:"name"` // as in "can create deployments in shop-dns"
	OK      bool   `json:"ok"`
	Message string `json:"message"` // why not, or what to do about it
}

// Drained says since when a cluster's addresses are kept out of public names,
// and who asked for it.
type Drained struct {
	Since    time.Time `json:"since"`
	Actor    string    `json:"actor"`
	Failover string    `json:"failover,omitempty"` // the id of the failover that did it; empty: a request for the one cluster
	Reason   string    `json:"reason,omitempty"`
}

// Because is the failover or the reason, as the end of a sentence that tells of a drain or an undrain. The reason of a
// failover is for those who may read its record.
func (d Drained) Because() string {
	switch {
	case d.Failover != "":
		return "; failover " + d.Failover
	case d.Reason != "":
		return "; reason: " + d.Reason
	}
	return ""
}

// Event is what the history of a cluster keeps of a drain or an undrain. A failover begins with it.
func (d Drained) Event(ctx context.Context, action Action) Event {
	e := Event{Time: d.Since, Actor: d.Actor, RequestID: By(ctx).RequestID, Action: action, Outcome: "completed", Message: d.Reason}
	if d.Failover != "" {
		e.Outcome, e.Message = "accepted", "failover "+d.Failover
		if d.Reason != "" {
			e.Message += ": " + d.Reason
		}
	}
	return e
}

// DrainOptions say how the drain or undrain of one cluster is asked for.
type DrainOptions struct {
	Force  bool // also if names are left without any address
	Reason string
	Actor  string
}

// Abandoned says since when a cluster is given up, and who gave it up.
type Abandoned struct {
	Since time.Time `json:"since"`
	Actor string    `json:"actor"`
}

// LeftBehind is an object of Signpost in an abandoned cluster, as far as is known.
type LeftBehind struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"` // empty where there is none
	Name      string `json:"name"`
}

// DraftPlan answers what documents would do that are not stored.
type DraftPlan struct {
	Changes   bool             `json:"changes"`   // whether a document or an owner would change
	Documents []DocumentChange `json:"documents"` // as they were given
	Owners    []OwnerPlan      `json:"owners"`    // that the documents belong to; none while a document would be refused
	Errors    []Field          `json:"errors"`    // why documents would be refused
}

// DocumentChange is what a write would do to a document.
type DocumentChange struct {
	Path   Path   `json:"path"`
	Action string `json:"action"` // create, update, unchanged or refused
}

// OwnerPlan is the plan to deploy a deployment intent group, a logical cloud, a provider or
// a name.
type OwnerPlan struct {
	Path    Path `json:"path"`
	Changes bool `json:"changes"`
	Plan    Plan `json:"plan"` // without a token, and without objects that stay as they are
}
