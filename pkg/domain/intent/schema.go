package intent

import "fmt"

// Schema is the newest schema version of documents, releases and pointers that
// this program knows. What is stored carries the version that it needs: the
// lowest one whose programs read it and write it again without losing anything.
// What carries none is of version 1.
const Schema = 3

// CheckSchema refuses the change of what needs a newer schema version than this
// program knows, with a Conflict: it can be read, but what it holds beyond that
// would be lost.
func CheckSchema(what string, schema int) error {
	if schema <= Schema {
		return nil
	}
	return &Error{Code: Conflict, Detail: fmt.Sprintf(
		"%s was written by a newer Signpost (schema %d, this one knows %d): it can be read here, and changed by replicas of that version alone", what, schema, Schema)}
}
