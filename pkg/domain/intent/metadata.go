package intent

import (
	"cmp"
	"encoding/json"
	"time"
)

// Metadata names and describes a document, in the form of the seed's API.
type Metadata struct {
	Name        string `json:"name"`                  // a Kubernetes label value, at most 63 characters
	Description string `json:"description,omitempty"` // for people
	UserData1   string `json:"userData1,omitempty"`   // for the user's own use
	UserData2   string `json:"userData2,omitempty"`   // for the user's own use

	// The server's; ignored on input.
	Revision  int64      `json:"revision,omitempty"`
	CreatedAt *time.Time `json:"createdAt,omitempty"`
	UpdatedAt *time.Time `json:"updatedAt,omitempty"`
}

// UnmarshalJSON also takes the seed's other spelling, userdata1 and userdata2.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	type plain Metadata
	both := struct {
		*plain
		Lower1 string `json:"userdata1"`
		Lower2 string `json:"userdata2"`
	}{plain: (*plain)(m)}
	// encoding/json matches names without case, so the exact name must win:
	// it decodes "userdata1" into Lower1 and "userData1" into UserData1.
	if err := json.Unmarshal(raw, &both); err != nil {
		return err
	}
	m.UserData1, m.UserData2 = cmp.Or(m.UserData1, both.Lower1), cmp.Or(m.UserData2, both.Lower2)
	return nil
}

// Resource is a document as users see it: metadata and a spec of its kind.
type Resource[Spec any] struct {
	Metadata Metadata `json:"metadata"`
	Spec     Spec     `json:"spec"`
}

// Of decodes a stored document.
func Of[Spec any](doc Document) (Resource[Spec], error) {
	var r Resource[Spec]
	if err := json.Unmarshal(doc.Body, &r); err != nil {
		return r, &Error{Detail: "the stored document " + string(doc.Path) + " cannot be read", Err: err}
	}
	created, updated := doc.CreatedAt, doc.UpdatedAt
	r.Metadata.Revision, r.Metadata.CreatedAt, r.Metadata.UpdatedAt = doc.Revision, &created, &updated
	return r, nil
}

// HasLabels tells whether labels hold all that are wanted.
func HasLabels(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}
