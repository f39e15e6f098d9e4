package show

import (
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// withResources is an answer whose documents name their collections, as apply takes them.
// Other answers stay as they are.
func withResources(path intent.Path, body []byte) ([]byte, error) {
	collection := path
	if path.Name() != "" {
		collection = intent.Path(path.Collection())
	}
	if !document.IsCollection(collection) {
		return body, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	if fields["items"] == nil {
		return withResource(collection, fields)
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(fields["items"], &items); err != nil {
		return nil, err
	}
	stamped := make([]json.RawMessage, len(items))
	for i, item := range items {
		var err error
		if stamped[i], err = withResource(collection, item); err != nil {
			return nil, err
		}
	}
	return json.Marshal(answer{Items: &stamped})
}

func withResource(collection intent.Path, fields map[string]json.RawMessage) ([]byte, error) {
	if fields["metadata"] != nil {
		name, err := json.Marshal(collection)
		if err != nil {
			return nil, err
		}
		fields["resource"] = name
	}
	return json.Marshal(fields)
}
