package bundle

import (
	"encoding/json"
	"fmt"
	"time"
)

// The kind of the objects that stand for built-in publishers.
const (
	PublisherGroup = "signpost.dev"
	PublisherKind  = "Publisher"
)

// Publisher says how the built-in publisher of a provider writes. Secret values are ids
// of sealed ones (I9).
type Publisher struct {
	Provider    string            `json:"provider"`
	Parameters  map[string]any    `json:"parameters,omitempty"` // of external-dns, without secrets
	Interval    time.Duration     `json:"interval"`             // between two checks of all names
	Environment map[string]string `json:"environment,omitempty"`
	Values      map[string]string `json:"values,omitempty"` // variables of the environment to the ids of their sealed values
	Files       map[string]string `json:"files,omitempty"`  // paths to the ids of their sealed contents
	OwnerID     string            `json:"ownerID"`
	Adopts      string            `json:"adopts,omitempty"`     // the owner id whose names it takes over
	AdoptsSince time.Time         `json:"adoptsSince,omitzero"` // when that was accepted, in UTC
	Stopped     bool              `json:"stopped,omitempty"`    // it writes nothing
}

// IsPublisher tells objects that stand for built-in publishers from others.
func (id ID) IsPublisher() bool { return id.Kind == PublisherKind && id.Group == PublisherGroup }

// ReadPublisher reads the settings of a built-in publisher out of its object.
func ReadPublisher(o Object) (Publisher, error) {
	var object struct {
		Spec Publisher `json:"spec"`
	}
	if err := json.Unmarshal(o.JSON, &object); err != nil {
		return Publisher{}, fmt.Errorf("%s cannot be read: %w", o.ID, err)
	}
	return object.Spec, nil
}
