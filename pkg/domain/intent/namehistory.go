package intent

import "time"

// The reasons for which a host name changes.
const (
	CauseRelease   = "Release"   // somebody has asked for it
	CauseTakeover  = "Takeover"  // another owner publishes the name instead
	CauseAddress   = "Address"   // a cluster offers other addresses
	CauseReadiness = "Readiness" // a Service has no ready endpoint, or the probe of an address fails; or no longer
	CauseCluster   = "Cluster"   // a cluster is lost, or is back
	CauseDrain     = "Drain"     // of a cluster
	CauseUndrain   = "Undrain"   // of a cluster
	CauseRouting   = "Routing"   // another cluster is first in order, or weights have changed
	CauseProvider  = "Provider"  // the provider's rules leave a target out
	CauseFailSafe  = "FailSafe"  // most clusters fail at once, and addresses stay
	CauseHeld      = "Held"      // the name has no address any more, and stays because too many would go at once
	CauseAnswers   = "Answers"   // authoritative servers answer otherwise
)

// NameTurn is one change of a host name, as its history keeps it.
type NameTurn struct {
	Time    time.Time      `json:"time"`              // UTC: when it was published, or noticed
	Project string         `json:"project"`           // of the owner
	Owner   Path           `json:"owner,omitempty"`   // the group or name that publishes it; empty for CauseAnswers
	Cause   Cause          `json:"cause"`             // why
	Changes []TargetChange `json:"changes"`           // what came and went; after flapping, compared with before
	Times   int            `json:"times,omitempty"`   // how often it has happened, if more than once: it is flapping
	Last    time.Time      `json:"lastTime,omitzero"` // UTC: of the last time, if more than once
	Gap     bool           `json:"gap,omitempty"`     // changes right before it are not in the history
}

// Cause is why a host name changes.
type Cause struct {
	Reason    string    `json:"reason"`
	Message   string    `json:"message"`
	Cluster   string    `json:"cluster,omitempty"`
	Actor     string    `json:"actor,omitempty"`     // who asked for it
	Action    Action    `json:"action,omitempty"`    // that was asked for
	Release   int64     `json:"release,omitempty"`   // its number
	RequestID string    `json:"requestID,omitempty"` // that asked
	Asked     time.Time `json:"asked,omitzero"`      // UTC: when
}

// TargetChange is what came and went of one name and type.
type TargetChange struct {
	Name     string    `json:"name,omitempty"` // of an SRV record; empty: the host name
	Type     string    `json:"type"`
	Provider string    `json:"provider,omitempty"`
	Added    []string  `json:"added,omitempty"`
	Removed  []string  `json:"removed,omitempty"`
	LeftOut  int       `json:"leftOut,omitempty"` // how many more targets came or went
	TTL      *TTLTurn  `json:"ttl,omitempty"`     // nil: the TTL stayed
	Answered time.Time `json:"answered,omitzero"` // UTC: since when all authoritative servers were seen to answer so
}

// TTLTurn is a change of a TTL, in seconds; 0 is that of the DNS provider.
type TTLTurn struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// NameChanges are the turns of one host name by one write.
type NameChanges struct {
	Host  string
	Turns []NameTurn // one for each cause, at least one

	// Before and After are digests of what the owner publishes for the name, empty for nothing.
	Before, After string
}

// NameHeard is what authoritative servers answer of one name and type.
type NameHeard struct {
	Project, Host, Type string
	Right               bool      // they answer as it is published, or nothing of what has gone
	Message             string    // what is wrong
	Since               time.Time // UTC: since when
}
