package intent

import "time"

// NameQuery asks for names over projects. Empty fields ask for nothing.
type NameQuery struct {
	Pattern   string // of the host name, in which * stands for any text
	Project   string
	Provider  string // name of a DNS update record
	Cluster   string // "provider+cluster": it gives addresses, or external-dns runs there
	State     State
	Published string // True, False, Unknown
	Verified  string // likewise
	Worst     bool   // the names with the gravest faults come first; else by host name
	Limit     int
	After     string // where the last page ended: its Continue

	Sees func(project string) bool // whose names may be told
}

// NamePage is a page of the names that a query finds.
type NamePage struct {
	Items    []FoundName `json:"items"` // never nil
	Total    int         `json:"total"` // of all pages
	Hosts    int         `json:"hosts"` // of these, each once: a name may have several owners and providers
	AsOf     AsOf        `json:"asOf"`
	Continue string      `json:"continue,omitempty"`
}

// AsOf says how old an answer from an index is.
type AsOf struct {
	Revision int64     `json:"revision"` // of etcd, up to which changes are in the answer
	Time     time.Time `json:"time"`     // UTC, when the index last heard from each store
}

// FoundName is what an index knows of a host name that an owner publishes through a
// provider.
type FoundName struct {
	Name      string   `json:"name"`
	Project   string   `json:"project"`
	Owner     Path     `json:"owner"`    // the name document, or the deployment intent group
	Provider  string   `json:"provider"` // name of a DNS update record
	Scope     Scope    `json:"scope"`
	Home      []string `json:"externalDNS"` // "provider+cluster" of each external-dns, ordered
	Clusters  []string `json:"clusters"`    // "provider+cluster" that addresses may come from, ordered
	State     State    `json:"state"`
	Published string   `json:"published"`        // True, False, Unknown
	Verified  string   `json:"verified"`         // likewise
	Reason    string   `json:"reason,omitempty"` // why the worse of both is not True, or what stands in the way of the owner
}

// Changed tells which documents of a collection were written or deleted. All changes up to its Revision are in it, or came before.
type Changed struct {
	Paths     []Path
	Documents []Document // for each of Paths, as it was written; without a Revision if it was deleted, or cannot be read; nil: nobody tells
	Revision  int64      // of the store
	Lost      bool       // history is missing: the reader looks at all documents again
}

// NameExplanation is all that is known of a host name, for a caller.
type NameExplanation struct {
	Name    string      `json:"name"`
	Summary string      `json:"summary"` // in a sentence or two
	Others  bool        `json:"others"`  // a project has the name that the caller may not read
	Owners  []NameOwner `json:"owners"`  // never nil
}

// NameOwner is an owner of a host name, and what has come of the name there.
type NameOwner struct {
	Owner       Path             `json:"owner"` // the name document, or the deployment intent group
	Project     string           `json:"project"`
	State       State            `json:"state"`
	Release     int64            `json:"release"`  // the number of the release
	Accepted    time.Time        `json:"accepted"` // when it was accepted
	Actor       string           `json:"actor"`    // who asked for it; empty: that is not kept any more
	Message     string           `json:"message"`  // what stands in the way of the whole owner; else empty
	Documents   []NameSource     `json:"documents"`
	Records     []NameStatus     `json:"records"`
	ExternalDNS []ProviderStatus `json:"externalDNS"`
	Unreachable []NameOutage     `json:"unreachable,omitempty"` // ordered by cluster
}

// NameOutage is a cluster of a host name that does not answer, and what comes of that.
type NameOutage struct {
	Cluster string     `json:"cluster"`           // "provider+cluster"
	Since   time.Time  `json:"since"`             // UTC
	Message string     `json:"message,omitempty"` // why it cannot be reached
	Targets []string   `json:"targets"`           // those that only this cluster gives and that are published now; ordered, never nil
	Leaves  *time.Time `json:"leaves,omitempty"`  // UTC: when they leave, if the cluster does not answer before; nil: they do not
	Waiting int        `json:"waiting"`           // objects of the owner that the cluster does not have as they are wanted
	Effect  string     `json:"effect"`            // all of that in words
}

// NameSource is a document that gives a host name.
type NameSource struct {
	Path     Path  `json:"path"`
	Revision int64 `json:"revision"` // that the release follows from
	Current  int64 `json:"current"`  // of the document now; another one is not deployed yet
}
