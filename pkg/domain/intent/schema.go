package intent

import "fmt"

// Schema is the newest schema version of documents, releases and pointers that
// this program knows. A stored document carries the version that it needs: the
// lowest one whose programs read and write the document without losing anything.
// A document without a version is of version 1.
const Schema = 1

// CheckSchema refuses, with a Conflict, to change a document that needs a newer schema
// version than this program knows. It can be read, but a change would lose its unknown
// parts.
func CheckSchema(what string, schema int) error {
	if schema <= Schema {
		return nil
	}
	return &Error{Code: Conflict, Detail: fmt.Sprintf(
		"%s was written by a newer Signpost (schema %d, this one knows %d): it can be read here, and changed only by replicas of that version", what, schema, Schema)}
}
