package review

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Rules are what the operator of the server allows.
type Rules struct {
	// AllowedImages are prefixes of whole image names, registry included. A prefix
	// without a final slash must be followed by the end of a part of the name. None:
	// [DefaultImages] of ImageRegistry.
	AllowedImages []string

	// ImageRegistry holds copies of the default images; empty: none does.
	ImageRegistry string

	// AllowLocalServers lets a record's verify.servers be loopback and
	// link-local addresses, as tests on one machine need it.
	AllowLocalServers bool

	// ForbiddenServers returns why Signpost itself may not connect to servers of a provider.
	// The keys are the fields of the spec that name these servers. If it is nil, no server is
	// forbidden.
	ForbiddenServers func(ctx context.Context, provider intent.Record) map[string]string

	// Quotas are those of projects that have none of their own.
	Quotas intent.Quotas

	// Kubeconfig judges a kubeconfig (YAML), and returns when its credentials end, zero if
	// they do not; nil finds nothing wrong with any. Its errors are shown to the user, so
	// they may not quote secrets.
	Kubeconfig func(yaml []byte) (expires time.Time, err error)

	// Claim has a cluster's document stand for the cluster that a kubeconfig leads to. A
	// cluster that does not answer soon is accepted. It answers a Conflict for a cluster
	// with another document, and for another cluster than before while objects are left
	// in that. If it is nil, no cluster is asked.
	Claim func(ctx context.Context, cluster intent.Path, yaml []byte) error

	// UsesOf returns what a cluster is used for, each use with a document that has been
	// released with it. nil: nothing is released.
	UsesOf func(ctx context.Context, cluster intent.Path) (map[intent.ClusterUse]intent.Path, error)

	// ExternallyManaged refuses the documents that another tool manages, and names it;
	// nil: there are none.
	ExternallyManaged func(intent.Path) error

	// NamespaceHolder is the name of the project whose namespace it is, empty for none's,
	// if another tool manages projects; nil: Signpost does.
	NamespaceHolder func(ctx context.Context, namespace string) (project string, err error)

	// NamespaceTenant is another project than the given one that has released something
	// in a namespace of some cluster, and the owner there. It is empty for none. If it is
	// nil, only documents say so.
	NamespaceTenant func(ctx context.Context, namespace, but string) (project string, what intent.Path, err error)
}

// Checker is what checks have of the world: the documents, and the rules.
type Checker struct {
	Store intent.Store
	Rules Rules
	Token func() string // a text that no other call gives
}

// ExternallyManaged refuses a document that another tool manages.
func (a *Checker) ExternallyManaged(path intent.Path) error {
	if a.Rules.ExternallyManaged == nil {
		return nil
	}
	return a.Rules.ExternallyManaged(path)
}

// Missing notes a reference to what does not exist, and where it is created if
// not here.
func (a *Checker) Missing(r *Review, at Pointer, to intent.Path) {
	where := ""
	if err := a.ExternallyManaged(to); err != nil {
		where = ": " + err.Error()
	}
	r.Conflictf(at, "%s refers to %s, which does not exist; create it first%s", r.Path, to, where)
}

// Find answers the document at path decoded, or nil when there is none.
func Find[Spec any](ctx context.Context, store intent.Store, path intent.Path) (*Spec, error) {
	doc, err := store.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stored, err := intent.Of[Spec](doc)
	return &stored.Spec, err
}

// Each calls visit for all documents of a collection, ordered by name, until
// it fails.
func (a *Checker) Each(ctx context.Context, collection string, visit func(intent.Document) error) error {
	const pageSize = 200
	return intent.Each(ctx, a.Store, intent.ListOptions{Collection: collection, Limit: pageSize, Bytes: intent.PageBytes}, visit)
}

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
