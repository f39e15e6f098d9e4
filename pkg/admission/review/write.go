package review

import (
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Write is a document that may be stored. Seal each of Secrets and Set its id,
// then hand the Write to [Admitter.Put].
type Write struct {
	Path    intent.Path
	Refs    []intent.Path // the documents that it needs, parent and sealed values included
	Secrets []Secret      // values that must be sealed first

	// Condition is the state of the store that was judged: absent, or the old
	// document's revision. When it no longer holds, admit the body again.
	Condition intent.Condition

	metadata intent.Metadata
	spec     any
	Claim    *Claim
}

// Secret is a value to seal before its document is stored.
type Secret struct {
	// Field names the value within its document. It stays the same when lists
	// are reordered, so it may be bound to the seal: "/spec/kubeconfig",
	// "/spec/credentials/environment ETCD_PASSWORD".
	Field string
	// Value is the plain value.
	Value []byte
	// Set puts the sealed value's id in the value's place, and the document
	// intent.SecretCollection/id among the Write's Refs.
	Set func(id string)
}

// Body is the JSON to store: canonical, without secret values.
func (w *Write) Body() ([]byte, error) {
	return json.Marshal(intent.Resource[any]{Metadata: w.metadata, Spec: w.spec})
}
