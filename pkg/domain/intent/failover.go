package intent

import "time"

// FailoverCollection has the failovers, named by their ids, as the API shows them.
const FailoverCollection = "failovers"

// ClusterSelection selects clusters: those that it names, and those with all of its labels.
type ClusterSelection struct {
	Clusters []string          `json:"clusters,omitempty"` // "provider/cluster"
	Labels   map[string]string `json:"labels,omitempty"`
}

// IsZero tells whether the selection asks for nothing.
func (s ClusterSelection) IsZero() bool { return len(s.Clusters) == 0 && len(s.Labels) == 0 }

// FailoverSpec says which clusters are drained and undrained together, and why.
type FailoverSpec struct {
	Drain   ClusterSelection `json:"drain,omitzero"`
	Undrain ClusterSelection `json:"undrain,omitzero"`
	Reason  string           `json:"reason,omitempty"`
}

// FailoverOptions say how a failover is asked for.
type FailoverOptions struct {
	Confirm  string       // the token of a preview; empty: none
	Override []SafetyRule // rules that do not count this time
	Force    bool         // also if names are left without any address
	Actor    string
}

// Why a name of a failover is in danger.
const (
	LeftNone      = "none"      // it has no address any more
	LeftOne       = "one"       // it had more than one address, and has one
	LeftUnhealthy = "unhealthy" // no cluster that is left for it is healthy, or can be reached
)

// MovedName is one name and type that a failover changes, or would change if nothing stood
// in the way.
type MovedName struct {
	Name           string   `json:"name"`
	Type           string   `json:"type"`
	Project        string   `json:"project"`
	Owner          Path     `json:"owner"`
	Record         string   `json:"provider"`
	Before         []string `json:"before"` // targets, ordered; never nil
	After          []string `json:"after"`
	ClustersBefore []string `json:"clustersBefore"` // "provider+cluster": whose addresses may be published
	ClustersAfter  []string `json:"clustersAfter"`
	Homes          []string `json:"homes"`           // clusters with the external-dns that publishes it
	TTL            int64    `json:"ttl,omitempty"`   // seconds; 0: that of the DNS provider
	Left           string   `json:"left,omitempty"`  // of LeftNone, LeftOne, LeftUnhealthy
	Stays          string   `json:"stays,omitempty"` // why the name does not move now
}

// FailoverCounts count what a failover changes.
type FailoverCounts struct {
	Names     int `json:"names"`     // that move: each name and type of a provider counts
	Stay      int `json:"stay"`      // that cannot move now
	One       int `json:"one"`       // left with one address
	None      int `json:"none"`      // left without any
	Unhealthy int `json:"unhealthy"` // left with unhealthy clusters

	Kept int `json:"kept,omitempty"` // that lose a cluster and keep their answer; each counts once for all of its types
}

// FailoverHosts count the host names of a failover, each once for all of its types and providers.
type FailoverHosts struct {
	Moved     int `json:"moved"`     // that move, and have an address afterwards
	Answered  int `json:"answered"`  // of these: whose servers were seen to answer as they are to
	None      int `json:"none"`      // that lose their last address
	Gone      int `json:"gone"`      // of these: whose servers were seen to answer them no longer
	One       int `json:"one"`       // left with one address
	Unhealthy int `json:"unhealthy"` // left with unhealthy clusters
	Stay      int `json:"stay"`      // that cannot move now
}

// FailoverRefusal is one reason for which a failover is refused.
type FailoverRefusal struct {
	Rule    SafetyRule `json:"rule,omitempty"`    // empty: no rule, but a name or cluster
	Project string     `json:"project,omitempty"` // whose rule it is; empty: the installation's
	Detail  string     `json:"detail"`
	Allow   string     `json:"allow"`           // who may do it all the same, and how
	Force   bool       `json:"force,omitempty"` // whether force allows it
}

// FailoverPreview tells what a failover would do.
type FailoverPreview struct {
	Token        string            `json:"token"`
	Drain        []string          `json:"drain"`     // "provider+cluster": those that are not drained yet
	Undrain      []string          `json:"undrain"`   // those that are drained
	Unchanged    []string          `json:"unchanged"` // those that are as asked for already
	Counts       FailoverCounts    `json:"counts"`
	Hosts        FailoverHosts     `json:"hosts"`
	Names        []MovedName       `json:"names"`
	NamesLeftOut int               `json:"namesLeftOut,omitempty"` // those that Names has no room for
	Refusals     []FailoverRefusal `json:"refusals"`
	Warnings     []string          `json:"warnings"`
	Unreachable  []LostCluster     `json:"unreachable,omitempty"` // clusters that names would keep or get addresses from, and that do not answer
	CachesFor    string            `json:"cachesFor,omitempty"`   // a Go duration: the longest TTL of a name that moves
}

// LostCluster is a cluster that cannot be reached.
type LostCluster struct {
	Cluster string    `json:"cluster"` // "provider+cluster"
	Since   time.Time `json:"since"`   // UTC: since when it was seen not to answer
}

// FailoverState is how far a failover is.
type FailoverState string

// The states of failovers.
const (
	FailoverMoving      FailoverState = "Moving"      // not all names are answered as they are to be
	FailoverDone        FailoverState = "Done"        // all are
	FailoverSuperseded  FailoverState = "Superseded"  // its clusters were drained or undrained by others
	FailoverUnconfirmed FailoverState = "Unconfirmed" // after a day, some were not seen to be answered
	FailoverFailed      FailoverState = "Failed"      // it was never begun
)

// FailoverName is a name of a failover, and how far it is.
type FailoverName struct {
	MovedName

	Published   *time.Time `json:"published,omitempty"`   // when its DNSEndpoint was seen to have the new targets
	Answered    *time.Time `json:"answered,omitempty"`    // when all authoritative servers were seen to answer them
	CachesUntil *time.Time `json:"cachesUntil,omitempty"` // until when caches may hold the old ones
	Message     string     `json:"message,omitempty"`     // what is waited for
}

// FailoverRecord is the record of a failover.
type FailoverRecord struct {
	ID        string    `json:"id"`
	Time      time.Time `json:"time"`
	Actor     string    `json:"actor"`
	RequestID string    `json:"requestID,omitempty"`

	FailoverSpec

	Drained    []string       `json:"drained"` // clusters that it has drained
	Undrained  []string       `json:"undrained"`
	Overridden []SafetyRule   `json:"overridden,omitempty"`
	Forced     bool           `json:"forced,omitempty"`
	RevertOf   string         `json:"revertOf,omitempty"`   // the failover that it reverts
	RevertedBy string         `json:"revertedBy,omitempty"` // the failover that reverts it
	State      FailoverState  `json:"state"`
	Message    string         `json:"message,omitempty"`
	Counts     FailoverCounts `json:"counts"`
	Hosts      FailoverHosts  `json:"hosts"`    // of all; Answered and Gone: of Names
	Answered   int            `json:"answered"` // of the names that move, how many are

	Names        []FailoverName `json:"names"`
	NamesLeftOut int            `json:"namesLeftOut,omitempty"`
	Ended        *time.Time     `json:"ended,omitempty"`
	CachesUntil  *time.Time     `json:"cachesUntil,omitempty"` // the last of the names

	Undone []FailoverUndone `json:"undone,omitempty"` // who undrained what it had drained, by cluster, once it has ended
}

// FailoverUndone tells who undrained a cluster that a failover has drained, and when.
type FailoverUndone struct {
	Cluster string `json:"cluster"` // "provider+cluster"
	Drained
}

// FailoverPage is a part of the failovers, the oldest first, without their names.
type FailoverPage struct {
	Items    []FailoverRecord `json:"items"` // never nil
	Continue string           `json:"continue,omitempty"`
}
