// Package address decides which addresses a name gets. It combines a release with the
// observations of clusters into targets, and explains each choice and rejection. All of it
// is pure.
package address

import (
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Service names a Service of a cluster ("provider+cluster").
type Service struct {
	Cluster   string
	Namespace string
	Name      string
}

// Candidate is an address or host name that leads to a Service.
type Candidate struct {
	Target   string   `json:"target"`             // an IP address or a host name, as found
	Field    string   `json:"field"`              // where it stands, as in "status.loadBalancer.ingress[0].ip"
	Kind     Kind     `json:"kind,omitempty"`     // none: of the load balancer, or an external IP
	Object   string   `json:"object,omitempty"`   // in which the field is, as in "Ingress shop/web"; none: the Service
	Resolved []string `json:"resolved,omitempty"` // of a host name: the addresses that it last had, ordered
}

// kind is the candidate's; one that was stored without is the Service's own.
func (c *Candidate) kind() Kind {
	switch {
	case c.Kind != "":
		return c.Kind
	case strings.HasPrefix(c.Field, "spec.externalIPs"):
		return External
	}
	return LoadBalancer
}

// Outward tells whether names of the public scope may have an address of its kind.
func (c *Candidate) Outward() bool { return rank(intent.Public, c.kind()) != nowhere }

// NotServed begins the reason of kinds that a cluster does not have at all.
const NotServed = "the cluster does not serve "

// Observation is the last observed state of a Service. A Service that is known to be
// absent has an Observation with Found false. A Service that was never observed has none
// (unknown is not empty, I11).
type Observation struct {
	Found      bool            `json:"found"`
	Candidates []Candidate     `json:"candidates,omitempty"` // in the order of kinds, objects and fields
	ClusterIPs []string        `json:"clusterIPs,omitempty"` // its addresses inside the cluster
	Ports      []Port          `json:"ports,omitempty"`      // those that have a name, in the Service's order
	Readiness  *Readiness      `json:"readiness,omitempty"`  // nil: not known, which counts as ready
	Unseen     map[Kind]string `json:"unseen,omitempty"`     // kinds of candidates that could not be looked at, with the reason: those last seen are among the candidates
	Changed    time.Time       `json:"changed,omitzero"`     // UTC: when the worker first saw it so
}

// hides tells whether the Service may have addresses that nobody could look at.
func (o *Observation) hides() bool {
	for _, reason := range o.Unseen {
		if !strings.HasPrefix(reason, NotServed) {
			return true
		}
	}
	return false
}

// Port is a named port of a Service.
type Port struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol"` // TCP, UDP or SCTP
	Number   int32  `json:"number"`
}

// Readiness is the damped state of a Service's EndpointSlices. It turns bad at once, and
// good again only after a while, which is longer with each turn. The counts are those of
// the last turn between no ready endpoint and some.
type Readiness struct {
	Ready int       `json:"ready"` // how many endpoints are ready; 0: none is
	Total int       `json:"total"`
	Since time.Time `json:"since,omitzero"`  // UTC: of the last turn
	Turns int       `json:"turns,omitempty"` // to the bad, in short sequence
}
