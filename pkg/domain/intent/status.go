package intent

import (
	"slices"
	"time"
)

// Status is what is known of a deployment intent group, or of the cluster DNS
// of a logical cloud. It never claims what was not observed (I6).
type Status struct {
	State      State             `json:"state"`
	ContextID  string            `json:"contextID"`
	Revision   int64             `json:"revision"` // of the release, 0 before the first
	Conditions []StatusCondition `json:"conditions"`
	Clusters   []ClusterStatus   `json:"clusters"`
	Providers  []ProviderStatus  `json:"providers"`
	Names      []NameStatus      `json:"names"`
	Leftovers  []Leftover        `json:"leftovers,omitempty"`
	Message    string            `json:"message,omitempty"` // why the state is Failed, that the group is suspended, or that the orchestrator is not followed
	DNS        []DNSStatus       `json:"dns,omitempty"`     // of a logical cloud, by cluster

	AppContext *AppContextStatus `json:"appContext,omitempty"` // absent if no orchestrator has ever deployed the group

	Undeployed []UndeployedDocument `json:"undeployed,omitempty"` // ordered by path

	Counts   StatusCounts `json:"counts"`             // of all names and objects, those of other pages included
	Continue string       `json:"continue,omitempty"` // of the next page; empty on the last one
}

// StatusCounts sums a status up.
type StatusCounts struct {
	Names       int      `json:"names"` // by host name and type
	Published   int      `json:"published"`
	Verified    int      `json:"verified"`
	Unaddressed []string `json:"unaddressed,omitempty"` // the first host names without a target
	Objects     int      `json:"objects"`
	Settled     int      `json:"settled"` // objects that are as they shall be
	Clusters    int      `json:"clusters"`
	Unreachable []string `json:"unreachable,omitempty"` // the first clusters that are not reached while objects there are not settled
	Undeployed  int      `json:"undeployed"`
	Leftovers   int      `json:"leftovers"`
}

// mentioned is how many names and clusters the counts mention.
const mentioned = 5

// Counted returns the sums of a status.
func (s Status) Counted() StatusCounts {
	c := StatusCounts{Names: len(s.Names), Clusters: len(s.Clusters), Undeployed: len(s.Undeployed), Leftovers: len(s.Leftovers)}
	addressed := map[string]bool{} // several apps may give a host name, and types of it
	for _, n := range s.Names {
		addressed[n.Name] = addressed[n.Name] || len(n.Targets) > 0
	}
	for _, n := range s.Names {
		if Holds(n.Conditions, "Published", "True") {
			c.Published++
		}
		if Holds(n.Conditions, "Verified", "True") {
			c.Verified++
		}
		if !addressed[n.Name] && len(c.Unaddressed) < mentioned && !slices.Contains(c.Unaddressed, n.Name) {
			c.Unaddressed = append(c.Unaddressed, n.Name)
		}
	}
	for _, cluster := range s.Clusters {
		c.Objects += len(cluster.Resources)
		before := c.Settled
		for _, r := range cluster.Resources {
			if r.Status == "Deleted" || r.Status == "Applied" && s.State != Terminating {
				c.Settled++
			}
		}
		if !cluster.Reachable && c.Settled-before < len(cluster.Resources) && len(c.Unreachable) < mentioned {
			c.Unreachable = append(c.Unreachable, cluster.ClusterRef.String())
		}
	}
	return c
}

// Holds reports whether a condition of a kind has a status.
func Holds(conditions []StatusCondition, kind, status string) bool {
	return slices.ContainsFunc(conditions, func(c StatusCondition) bool { return c.Type == kind && c.Status == status })
}

// UndeployedDocument is a document that differs from a release.
type UndeployedDocument struct {
	Path     Path       `json:"path"`
	Change   Difference `json:"change"`
	Revision int64      `json:"revision,omitempty"` // in the release; 0 for InputAdded
	Current  int64      `json:"current,omitempty"`  // now; 0 for InputRemoved
}

// Difference is how a document differs from a release.
type Difference string

// The differences.
const (
	InputAdded   Difference = "added"   // the release does not follow from it
	InputChanged Difference = "changed" // it has another revision, or was deleted and created again
	InputRemoved Difference = "removed" // it was deleted, or is not used any more
)

// AppContextStatus is the app context of an orchestrator that a group is for, or was for
// last.
type AppContextStatus struct {
	ID      string `json:"id"`
	State   string `json:"state"`   // in the orchestrator's words, empty while it has said nothing
	Message string `json:"message"` // why the state is not known, or the context is not what the orchestrator has in the clusters
}

// StatusCondition is one aspect of a status, in Kubernetes' form.
type StatusCondition struct {
	Type               string    `json:"type"`   // Planned, Committed, Synced; of groups Published, Verified; of logical clouds Placed, Available
	Status             string    `json:"status"` // True, False, Unknown
	Reason             string    `json:"reason"` // one word in CamelCase
	Message            string    `json:"message"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// ClusterStatus is one cluster's share of the objects.
type ClusterStatus struct {
	ClusterRef
	Reachable bool             `json:"reachable"`
	Message   string           `json:"message"`
	Resources []ResourceStatus `json:"resources"`
}

// ResourceStatus is one object's state: Pending, Applied, Retrying, Failed or
// Deleted.
type ResourceStatus struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	Message   string `json:"message"`
}

// ProviderStatus is the external-dns of a record in one cluster.
type ProviderStatus struct {
	Record    string     `json:"record"`
	Cluster   string     `json:"cluster"` // its home in one word
	Scope     Scope      `json:"scope"`
	Version   string     `json:"version"`
	Available *bool      `json:"available,omitempty"` // absent where it cannot be observed
	LastSync  *time.Time `json:"lastSync,omitempty"`
	Message   string     `json:"message"` // conflicts of its objects among others
}

// NameStatus is one DNS name and type with the reasons for its targets.
type NameStatus struct {
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	Record     string            `json:"record"`
	Scope      Scope             `json:"scope"`
	Targets    []string          `json:"targets"`
	Conditions []StatusCondition `json:"conditions"`
	Sources    []Source          `json:"sources"`
	Rejected   []Rejection       `json:"rejected"`
	Sets       []SetStatus       `json:"sets,omitempty"`    // where the name has several by set identifier
	Answers    []Answer          `json:"answers,omitempty"` // of the authoritative servers, once they were asked
	Stages     *Stages           `json:"stages,omitempty"`  // of the last change of its DNSEndpoint; absent before it is written
	Probes     []ProbeStatus     `json:"probes,omitempty"`  // of the addresses that the name could have; none: no probe is asked for
}

// Stages are when a change of a DNSEndpoint came how far, in UTC. A zero time is not known, or has not come. Observed
// and Seen are zero of a change that follows from a release.
type Stages struct {
	Observed  time.Time `json:"observed,omitzero"`  // a worker saw the changed address
	Seen      time.Time `json:"seen,omitzero"`      // the controller took it up
	Decided   time.Time `json:"decided,omitzero"`   // the app context had the change
	Written   time.Time `json:"written,omitzero"`   // the home had the DNSEndpoint
	Published time.Time `json:"published,omitzero"` // external-dns or the built-in publisher had told the DNS provider
	Answered  time.Time `json:"answered,omitzero"`  // all authoritative servers were found to answer it
}

// ProbeStatus is what the probe of an address has found.
type ProbeStatus struct {
	Target  string    `json:"target"`
	Healthy string    `json:"healthy"`           // True, False or Unknown, which counts as healthy
	Since   time.Time `json:"since,omitzero"`    // UTC, of the last change; zero while Healthy is Unknown
	From    string    `json:"from,omitempty"`    // the replica that probes
	Message string    `json:"message,omitempty"` // of the last failure, or why nothing is judged
}

// Source tells where a target comes from.
type Source struct {
	Target  string `json:"target"`
	Cluster string `json:"cluster"` // provider+cluster; "built-in" of a fixed address
	Object  string `json:"object"`  // "Service namespace/name"
	Field   string `json:"field"`   // "status.loadBalancer.ingress[0].ip"
	Kind    string `json:"kind"`    // loadBalancer, external, ingress, gateway, node, nodeInternal, clusterIP or endpoint

	Via string `json:"via,omitempty"` // the host name in the field, of which the target is an address; empty: the target is in the field
}

// Rejection tells why a candidate is not a target.
type Rejection struct {
	Target  string `json:"target"`
	Cluster string `json:"cluster"`
	Object  string `json:"object"`
	Reason  string `json:"reason"` // in words
	Code    string `json:"code"`   // the same as data: one word for each reason
	Field   string `json:"field"`  // as in Source
	Kind    string `json:"kind"`   // as in Source
}

// Answer is what one authoritative server said of a name and type.
type Answer struct {
	Server  string    `json:"server"`            // IP address and port
	At      time.Time `json:"at"`                // UTC
	Rcode   string    `json:"rcode,omitempty"`   // as in NOERROR; empty: there was no answer
	Targets []string  `json:"targets,omitempty"` // ordered
	TTL     int64     `json:"ttl,omitempty"`     // seconds
	Message string    `json:"message,omitempty"` // what is wrong with it
}

// SetStatus is one of several sets that a name and type have, told apart by set
// identifiers.
type SetStatus struct {
	SetIdentifier string   `json:"setIdentifier"`
	Weight        int64    `json:"weight"` // 0 with a region or a location
	Region        string   `json:"region,omitempty"`
	Location      string   `json:"location,omitempty"`
	Targets       []string `json:"targets"`
}

// Leftover is a name that stayed behind after terminate.
type Leftover struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Record string `json:"record"`
	Reason string `json:"reason"`
}

// RecordStatus answers GET …/dns-update-records/{r}/status.
type RecordStatus struct {
	Home        *Home            `json:"home,omitempty"`
	OwnerID     string           `json:"ownerID"`
	Version     string           `json:"version"`
	Revision    int64            `json:"revision"` // of the record's release, 0 before first use
	Providers   []ProviderStatus `json:"providers"`
	Deployments []Deployment     `json:"deployments"`
	Warnings    []Warning        `json:"warnings"`
	Adoption    *Adoption        `json:"adoption,omitempty"` // under way; absent: none is

	Undeployed []UndeployedDocument `json:"undeployed,omitempty"` // the record itself, if it differs from its release

	Continue string `json:"continue,omitempty"` // of the next page of Providers and Deployments; empty on the last one
}

// Adoption is the taking over of names that another external-dns has marked as
// its own.
type Adoption struct {
	From  string    `json:"from"`  // its txt-owner-id
	Names []string  `json:"names"` // that were seen to be its own, ordered
	Since time.Time `json:"since"` // UTC, when it was accepted
}

// Deployment is one external-dns of a record.
type Deployment struct {
	Scope Scope `json:"scope"`
	Home
	OwnerID string `json:"ownerID"`
	Version string `json:"version"`
}

// DNSStatus is how the DNS of one cluster of a logical cloud is doing.
type DNSStatus struct {
	ClusterRef

	Intent    string           `json:"intent"` // name of the DNS CR intent
	Mode      DNSMode          `json:"mode"`
	Namespace string           `json:"namespace"`
	Domain    string           `json:"domain"`              // of the cluster
	Address   string           `json:"address,omitempty"`   // of the DNS service, for pods to use; absent while it is not known
	Former    bool             `json:"former,omitempty"`    // another one replaces it, and pods may still ask it
	Available *bool            `json:"available,omitempty"` // every DNS pod that there is to be is ready; absent where that cannot be observed
	Placement *PlacementStatus `json:"placement,omitempty"` // absent where it cannot be checked, and in mode import
	Upstreams []UpstreamStatus `json:"upstreams"`           // that health checks have told of
	NodeCache *NodeCacheStatus `json:"nodeLocalDNS,omitempty"`
	Message   string           `json:"message"`
}

// NodeCacheStatus is how the DNS caches on a cluster's nodes are doing.
type NodeCacheStatus struct {
	LocalIP   string `json:"localIP"`             // that they listen on
	Available *bool  `json:"available,omitempty"` // every node that is to have one has one that is ready; absent where that cannot be observed
	Message   string `json:"message"`
}

// PlacementStatus is what the cluster's nodes make of a placement.
type PlacementStatus struct {
	Current  bool            `json:"current"`  // the placement that was asked for is the one in use
	Nodes    int             `json:"nodes"`    // of the cluster
	Suitable int             `json:"suitable"` // for the placement that was asked for
	Excluded []NodeExclusion `json:"excluded"` // why the others are not
	Message  string          `json:"message"`
}

// NodeExclusion is what keeps DNS pods from some nodes.
type NodeExclusion struct {
	Reason string `json:"reason"` // as in "label disktype=ssd is missing"
	Nodes  int    `json:"nodes"`
}

// UpstreamStatus is how a nameserver that queries are forwarded to is doing, as
// CoreDNS' own health checks say.
type UpstreamStatus struct {
	Address string    `json:"address"` // IP:port
	Healthy bool      `json:"healthy"` // no health check has failed of late
	Since   time.Time `json:"since"`   // when that was first seen to be so
	Message string    `json:"message"`
}
