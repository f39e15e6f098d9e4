package apply

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/signpost-dns/signpost/pkg/client"
)

// hasStatus reports whether the server refused with a status.
func hasStatus(err error, status int) bool {
	var problem *client.Error
	return errors.As(err, &problem) && problem.Status == status
}

// says tells whether a stored document has all that another one says of itself,
// and the same specification: storing that one would change nothing.
func says(stored, document []byte) bool {
	type content struct {
		Metadata map[string]any `json:"metadata"`
		Spec     map[string]any `json:"spec"`
	}
	var is, wanted content
	if json.Unmarshal(stored, &is) != nil || json.Unmarshal(document, &wanted) != nil {
		return false
	}
	for key, value := range wanted.Metadata {
		if !reflect.DeepEqual(is.Metadata[key], value) {
			return false
		}
	}
	return len(is.Spec)+len(wanted.Spec) == 0 || reflect.DeepEqual(is.Spec, wanted.Spec)
}
