package intent

import "time"

// FleetQuery asks how everything does.
type FleetQuery struct {
	Limit   int
	Cluster string                    // "provider+cluster": only items of it; empty: of all
	Healthy string                    // True, False, Unknown or NotTrue: only such items; empty: all
	After   string                    // where the last page ended: its Continue
	Sees    func(project string) bool // what may be told
	Drained map[string]bool           // clusters ("provider+cluster") that are drained
}

// Fleet is a page of how clusters and external-dns do, and the sum of all owners and
// names. It has what the caller may read.
type Fleet struct {
	Groups map[State]int `json:"groups"` // deployment intent groups with host names, by state
	Names  map[State]int `json:"names"`  // name documents, by state
	Hosts  HostCounts    `json:"hosts"`  // host names of both
	Items  []FleetItem   `json:"items"`  // clusters, then external-dns; never nil
	// AnswerTimes are of the names whose last change was answered in the last 24 hours; nil if none was.
	AnswerTimes *AnswerTimes `json:"answerTimes,omitempty"`
	AsOf        AsOf         `json:"asOf"`
	Continue    string       `json:"continue,omitempty"`
}

// HostCounts counts host names, each once: by the worst of its owners, providers and scopes.
type HostCounts struct {
	Total       int `json:"total"`
	Unpublished int `json:"unpublished"` // not seen to be published, or not known to be
	Unverified  int `json:"unverified"`  // not seen to be answered, or not known to be
}

// AnswerTimes are how long changes took from their observation until all servers answered
// them, as Go durations.
type AnswerTimes struct {
	Names   int    `json:"names"` // how many changes, of a name each
	Median  string `json:"median"`
	P95     string `json:"p95"`
	Longest string `json:"longest"`
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
	Message string     `json:"message,omitempty"` // why it is not, or what fails there
	Lost    *time.Time `json:"unreachableSince,omitempty"`
	Drained bool       `json:"drained,omitempty"` // of a cluster
	Pending int        `json:"pending"`           // objects that the cluster does not have as they are wanted; 0 of an external-dns
	Since   *time.Time `json:"pendingSince,omitempty"`
	Hosts   HostCounts `json:"hosts"`
}

// The kinds of trouble.
const (
	TroubleConflict = "conflict" // the cluster refuses an object, or somebody else's is in its place
	TroublePending  = "pending"  // the cluster does not have an object as it is wanted yet
	TroubleLeftover = "leftover" // a name stayed behind after terminate
	TroubleHeld     = "held"     // names stay that nothing offers an address
)

// TroubleQuery asks what keeps names and objects from being as they are wanted.
type TroubleQuery struct {
	Limit int
	After string                    // where the last page ended: its Continue
	Sees  func(project string) bool // what may be told
}

// TroublePage is a page of troubles, and how many there are of each kind.
type TroublePage struct {
	Items    []Trouble      `json:"items"` // never nil
	Counts   map[string]int `json:"counts"`
	AsOf     AsOf           `json:"asOf"`
	Continue string         `json:"continue,omitempty"`
}

// Trouble is an object or a name that is not as it is wanted.
type Trouble struct {
	Kind    string     `json:"kind"`
	Project string     `json:"project,omitempty"` // empty: of an object that all projects share
	Owner   Path       `json:"owner,omitempty"`
	Cluster string     `json:"cluster,omitempty"` // of an object: "provider+cluster"
	Object  string     `json:"object,omitempty"`  // as in "Service shop/web"
	Record  string     `json:"provider,omitempty"`
	Name    string     `json:"name,omitempty"`  // of a leftover
	Type    string     `json:"type,omitempty"`  // of a leftover
	Names   int        `json:"names,omitempty"` // how many are held
	Message string     `json:"message,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
}
