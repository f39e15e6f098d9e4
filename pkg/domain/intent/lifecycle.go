package intent

import (
	"encoding/json"
	"strconv"
	"time"
)

// Action is what a lifecycle request asks for.
type Action string

// The actions.
const (
	Instantiate Action = "instantiate"
	Update      Action = "update"
	Rollback    Action = "rollback"
	Terminate   Action = "terminate"

	Deploy   Action = "deploy" // a request: instantiate or update, as needed
	NoAction Action = "none"   // an answer: nothing had to be done
)

// Further actions in events.
const (
	Create  Action = "create" // a document
	Replace Action = "replace"
	Delete  Action = "delete"
	Drain   Action = "drain" // a cluster
	Undrain Action = "undrain"
	Abandon Action = "abandon"
)

// OfDocument tells whether the action is one on a document as such.
func (a Action) OfDocument() bool { return a == Create || a == Replace || a == Delete }

// Done is the action in the passive: what cannot be "rolled back".
func (a Action) Done() string {
	if a == Rollback {
		return "rolled back"
	}
	return string(a) + "d"
}

// State is where a deployment intent group stands.
type State string

// The states.
const (
	Created       State = "Created"
	Instantiating State = "Instantiating"
	Instantiated  State = "Instantiated"
	Updating      State = "Updating"
	Terminating   State = "Terminating"
	Terminated    State = "Terminated"
	Failed        State = "Failed" // an accepted release that could not be committed; it is retried
)

// Plan is what a lifecycle action would do.
type Plan struct {
	Token    string         `json:"token"` // for ?confirm=: bound to the revision of every input and to the actions
	Objects  []ObjectChange `json:"objects"`
	Names    []NameChange   `json:"names"`
	Warnings []string       `json:"warnings"`
	Errors   []Field        `json:"errors"`

	ObjectsLeftOut *ObjectCounts `json:"objectsLeftOut,omitempty"` // those that Objects has no room for; nil: none

	MissingServices []string `json:"missingServices,omitempty"` // as namespace/name: none of their clusters has them
}

// ObjectCounts are how many objects there are of each action.
type ObjectCounts struct {
	Create    int `json:"create"`
	Update    int `json:"update"`
	Delete    int `json:"delete"`
	Unchanged int `json:"unchanged"`
}

// ObjectChange is one Kubernetes object in a plan.
type ObjectChange struct {
	Cluster   string `json:"cluster"` // provider+cluster
	Action    string `json:"action"`  // create, update, delete, unchanged
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"` // empty for cluster-scoped kinds
	Name      string `json:"name"`
	Diff      string `json:"diff"` // a unified diff of the YAML; empty when unchanged
}

// NameChange is one DNS name and type in a plan.
type NameChange struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Record  string   `json:"record"`
	Action  string   `json:"action"` // create, update, delete, unchanged
	Targets []string `json:"targets"`
	Before  []string `json:"before,omitempty"` // the targets until then; none: of a new name. Both have those that other groups give

	TTL       int64 `json:"ttl,omitempty"`       // seconds afterwards; 0: that of the DNS provider
	TTLBefore int64 `json:"ttlBefore,omitempty"` // until then

	Mark string `json:"mark,omitempty"` // of a new name: the TXT record by which the publisher will mark it as its own

	AnsweredWithin string `json:"answeredWithin,omitempty"` // a Go duration: how soon external-dns tells the DNS provider, at most
	ClientsWithin  string `json:"clientsWithin,omitempty"`  // a Go duration: how soon clients follow a change of an address, at most
	AbsentFor      string `json:"absentFor,omitempty"`      // a Go duration: how long resolvers keep that a new name does not exist; empty: not known
}

// Accepted answers a lifecycle request.
type Accepted struct {
	ContextID string `json:"contextID"`
	Revision  int64  `json:"revision"` // of the release
}

// DeployRequest asks for an owner to be as its documents say.
type DeployRequest struct {
	Takeover string // of a deployment intent group: whose names it takes over; empty: nobody's
	Adopt    string // of a provider: the owner id whose names it adopts; empty: none
	Confirm  string // the token of a plan; empty: none
	Actor    string
}

// Deployed answers a DeployRequest.
type Deployed struct {
	Accepted
	Action Action `json:"action"` // instantiate, update or none
}

// IsContextID tells whether a text is the id of an app context: a decimal number of at
// most 63 bits, without leading zeros.
func IsContextID(text string) bool {
	const bits = 63
	number, err := strconv.ParseUint(text, 10, bits)
	return err == nil && strconv.FormatUint(number, 10) == text
}

// Event is one thing that happened to an owner, or to a document.
type Event struct {
	Time      time.Time `json:"time"`
	Actor     string    `json:"actor"`
	Action    Action    `json:"action"`
	Revision  int64     `json:"revision"` // the release, or the document's own; 0 for none
	Outcome   string    `json:"outcome"`  // accepted, refused, completed, failed; of documents stored, deleted
	Message   string    `json:"message"`
	RequestID string    `json:"requestID,omitempty"` // of the request that asked; empty: Signpost did it by itself
	Path      Path      `json:"path,omitempty"`      // what it happened to

	// Before and After are a document as it was and as it is, without secrets. They are
	// empty if there is none, and if it is too large to be kept.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// FollowedEvent is an event as those hear of it who follow all events.
type FollowedEvent struct {
	ID    int64 // the revision of the store
	Event Event // without documents
	Lost  bool  // there is no event, and earlier ones are missing
}

// EventPage is a part of what happened, the newest first.
type EventPage struct {
	Items    []Event `json:"items"` // never nil
	Continue string  `json:"continue,omitempty"`
}

// Use is one user of a record.
type Use struct {
	DeploymentIntentGroup string   `json:"deploymentIntentGroup"`
	Clusters              []string `json:"clusters"` // where the external-dns that it uses runs
}

// UsePage is a page of the users of a provider.
type UsePage struct {
	Items    []Use  `json:"items"` // never nil
	Continue string `json:"continue,omitempty"`
}
