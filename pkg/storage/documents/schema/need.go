package schema

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// kind is the last segment of a document's collection.
func kind(path intent.Path) string {
	collection := path.Collection()
	return collection[strings.LastIndexByte(collection, '/')+1:]
}

// needs is the schema version that a body needs, and the field for which it
// does, as a JSON pointer; 1 and none for what every program knows.
func (s *Store) needs(write intent.Write) (needed int, field string) {
	needed = 1
	for _, change := range s.changes[kind(write.Path)] {
		if change.Schema > needed && has(write.Body, change.Field) {
			needed, field = change.Schema, "/"+strings.Join(change.Field, "/")
		}
	}
	return needed, field
}

// has tells whether a body has a field that is not empty.
func has(body []byte, field []string) bool {
	if !bytes.Contains(body, []byte(`"`+field[len(field)-1]+`"`)) {
		return false // as nearly all have not: nothing is decoded
	}
	value := json.RawMessage(body)
	for _, key := range field {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return false
		}
		value = object[key]
	}
	switch string(bytes.TrimSpace(value)) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}
