package intent

import "time"

// FleetQuery asks how everything does.
type FleetQuery struct {
	Limit   int
	After   string                    // where the last page ended: its Continue
	Sees    func(project string) bool // what may be told
	Drained map[string]bool           // clusters ("provider+cluster") that are drained
}

// Fleet is a page of how clusters and external-dns do, and the sum of all owners and
// names. It has what the caller may read.
type Fleet struct {
	Groups   map[State]int `json:"groups"` // deployment intent groups with host names, by state
	Names    map[State]int `json:"names"`  // name documents, by state
	Hosts    HostCounts    `json:"hosts"`  // host names of both
	Items    []FleetItem   `json:"items"`  // clusters, then external-dns; never nil
	AsOf     AsOf          `json:"asOf"`
	Continue string        `json:"continue,omitempty"`
}

// HostCounts counts host names, each for every owner, provider and scope.
type HostCounts struct {
	Total       int `json:"total"`
	Unpublished int `json:"unpublished"` // not seen to be published, or not known to be
	Unverified  int `json:"unverified"`  // not seen to be answered, or not known to be
}

// FleetItem is a cluster that names take addresses from or that external-dns runs in, or
// an external-dns.
type FleetItem struct {
	Kind    string     `json:"kind"`              // cluster, externalDNS
	Cluster string     `json:"cluster"`           // "provider+cluster"
	Project string     `json:"project,omitempty"` // of an external-dns
	Record  string     `json:"provider,omitempty"`
	Scope   Scope      `json:"scope,omitempty"`
	Healthy string     `json:"healthy"`           // True, False, Unknown: it can be reached, or is available
	Drained bool       `json:"drained,omitempty"` // of a cluster
	Pending int        `json:"pending"`           // objects that the cluster does not have as they are wanted; 0 of an external-dns
	Since   *time.Time `json:"pendingSince,omitempty"`
	Hosts   HostCounts `json:"hosts"`
}
