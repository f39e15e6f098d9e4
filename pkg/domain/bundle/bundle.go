// Package bundle holds Kubernetes objects on their way from a plan to the clusters: which
// cluster, which object, and its canonical JSON. It imports neither Kubernetes' types nor
// any store.
package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Labels and annotations that Signpost writes.
const (
	LabelManagedBy    = "app.kubernetes.io/managed-by"
	ManagedBy         = "signpost"
	LabelInstallation = "signpost.dev/installation"
	LabelProject      = "signpost.dev/project"
	LabelRecord       = "signpost.dev/record"
	LabelScope        = "signpost.dev/scope"
	LabelApp          = "signpost.dev/app"
	LabelLogicalCloud = "signpost.dev/logical-cloud"
	LabelDIG          = "signpost.dev/deployment-intent-group"
	LabelName         = "signpost.dev/name"

	// AnnotationValuesFrom marks a Secret whose values the worker inserts when it applies
	// it. Its value is a JSON object from the Secret's keys to the ids of sealed values.
	// So no context, release or plan holds a secret value (I9).
	AnnotationValuesFrom = "signpost.dev/values-from"

	// AnnotationKeys with the value OwnKeys marks an object that is somebody
	// else's, in which the keys of its data are ours and nothing else is.
	AnnotationKeys = "signpost.dev/keys"
	OwnKeys        = "own"

	// AnnotationMetrics is on pods that declare no port for their metrics, and
	// holds it: as many who use Prometheus write it.
	AnnotationMetrics = "prometheus.io/port"
)

// MaxSize is how many bytes of JSON an object may have. Our etcd and those of API
// servers take 1.5 MiB, which holds what these and other managers add, too.
const MaxSize = 1280 << 10

// ID identifies an object: which cluster ("provider+cluster"), and what the
// API server there calls it. Namespace is empty for cluster-scoped kinds.
type ID struct {
	Cluster   string
	Group     string // API group, empty for the core group
	Kind      string
	Namespace string
	Name      string
}

// String is "cluster Kind.group namespace/name", for messages.
func (id ID) String() string {
	kind := id.Kind
	if id.Group != "" {
		kind += "." + id.Group
	}
	if id.Namespace == "" {
		return id.Cluster + " " + kind + " " + id.Name
	}
	return id.Cluster + " " + kind + " " + id.Namespace + "/" + id.Name
}

// Compare orders ids by cluster, group, kind, namespace and name.
func Compare(a, b ID) int {
	return cmp.Or(
		cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Object is one object for one cluster.
type Object struct {
	ID
	App  string // the app that it belongs to, which is where an app context files it
	JSON []byte // canonical: keys sorted, no status, no null creationTimestamp

	Published *Published // by a DNSEndpoint of Signpost's; nil: the object is none, or it is to be read again (PublishesAs)

	head *Head // as it was read; nil: it is read again
}

// Short is the object without its head, which is read again when it is asked for. Objects that are kept have none: there
// may be very many.
func (o Object) Short() Object {
	o.head = nil
	return o
}

// New makes an object from anything that marshals to a Kubernetes object.
func New(cluster, app string, object any) (Object, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return Object{}, fmt.Errorf("marshal %T: %w", object, err)
	}
	text, sorted := canonical(raw)
	if !sorted {
		return Parse(cluster, app, raw)
	}
	head, err := readHead(headText(text))
	if err != nil {
		return Object{}, err
	}
	id, err := identify(cluster, head)
	return Object{ID: id, App: app, JSON: text, head: &head}, err
}

// Parse makes an object from the JSON of a Kubernetes object. It fails unless
// apiVersion, kind and metadata.name are there.
func Parse(cluster, app string, raw []byte) (Object, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var content map[string]any
	if err := decoder.Decode(&content); err != nil {
		return Object{}, fmt.Errorf("not a JSON object: %w", err)
	}
	if decoder.More() {
		return Object{}, errors.New("not a JSON object: more text follows it")
	}
	delete(content, "status")
	dropNullCreation(content)
	canonical, err := json.Marshal(content)
	if err != nil {
		return Object{}, err
	}
	head, err := readHead(canonical)
	if err != nil {
		return Object{}, err
	}
	id, err := identify(cluster, head)
	return Object{ID: id, App: app, JSON: canonical, head: &head}, err
}

// Stored makes an object from the canonical JSON that it had when it was stored.
// Stored reads the head, and what a DNSEndpoint of Signpost's publishes.
func Stored(cluster, app string, canonical []byte) (Object, error) {
	o := Object{App: app, JSON: canonical}
	head, err := o.Head()
	if err != nil {
		return Object{}, err
	}
	o.ID, err = identify(cluster, head)
	o.Published, o.head = publishedIn(o.ID, head, canonical), &head
	return o, err
}

func identify(cluster string, h Head) (ID, error) {
	if h.APIVersion == "" || h.Kind == "" || h.Name == "" {
		return ID{}, errors.New("an object needs apiVersion, kind and metadata.name")
	}
	group, _, grouped := strings.Cut(h.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return ID{Cluster: cluster, Group: group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}, nil
}

// dropNullCreation removes what Go's typed structs write for an unset
// creation time, wherever an object's metadata may be nested.
func dropNullCreation(v any) {
	switch v := v.(type) {
	case map[string]any:
		if at, ok := v["creationTimestamp"]; ok && at == nil {
			delete(v, "creationTimestamp")
		}
		for _, inner := range v {
			dropNullCreation(inner)
		}
	case []any:
		for _, inner := range v {
			dropNullCreation(inner)
		}
	}
}

// Digest is the first half of the SHA-256 of the object's canonical JSON, in hex. A secret
// value is in it by its reference alone, which changes with the value.
func (o Object) Digest() string {
	const enough = 16
	sum := sha256.Sum256(o.JSON)
	return hex.EncodeToString(sum[:enough])
}

// Shared tells whether the object belongs to somebody else, and Signpost manages only
// some keys of its data. These are added and removed one by one, and the object is never
// removed with them.
func (o Object) Shared() bool {
	head, err := o.Head()
	return err == nil && head.Annotations[AnnotationKeys] == OwnKeys
}

// Bundle is a set of objects, ordered by ID, no ID twice.
type Bundle []Object

// IDs are those of the objects, in order.
func (b Bundle) IDs() []ID {
	ids := make([]ID, len(b))
	for n, o := range b {
		ids[n] = o.ID
	}
	return ids
}

// Find answers the object with an ID.
func (b Bundle) Find(id ID) (o Object, found bool) {
	at, found := slices.BinarySearchFunc(b, id, func(o Object, id ID) int { return Compare(o.ID, id) })
	if found {
		o = b[at]
	}
	return o, found
}

// Collect orders objects into a bundle. Two objects of one ID must be equal;
// the error names both apps otherwise.
func Collect(objects []Object) (Bundle, error) {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b Object) int { return Compare(a.ID, b.ID) })
	var out Bundle
	for _, o := range sorted {
		if len(out) == 0 || out[len(out)-1].ID != o.ID {
			out = append(out, o)
			continue
		}
		if last := out[len(out)-1]; !bytes.Equal(last.JSON, o.JSON) {
			return nil, fmt.Errorf("apps %q and %q both hold %s, but with different content", last.App, o.App, o.ID)
		}
	}
	return out, nil
}

// Action is what a change does to an object.
type Action string

// The actions.
const (
	Create    Action = "create"
	Update    Action = "update"
	Delete    Action = "delete"
	Unchanged Action = "unchanged"
)

// Change is the difference of one object between two bundles.
type Change struct {
	Action   Action
	ID       ID
	Old, New []byte // canonical JSON, nil where the object is not

	Before, After *Published // by a DNSEndpoint of Signpost's, as Old and New
}

// Diff compares two bundles object by object, ordered by ID.
func Diff(before, after Bundle) []Change {
	var out []Change
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && Compare(before[0].ID, after[0].ID) < 0:
			out = append(out, Change{Action: Delete, ID: before[0].ID, Old: before[0].JSON, Before: before[0].Published})
			before = before[1:]
		case len(before) == 0 || Compare(before[0].ID, after[0].ID) > 0:
			out = append(out, Change{Action: Create, ID: after[0].ID, New: after[0].JSON, After: after[0].Published})
			after = after[1:]
		default:
			action := Update
			if bytes.Equal(before[0].JSON, after[0].JSON) {
				action = Unchanged
			}
			out = append(out, Change{
				Action: action, ID: before[0].ID, Old: before[0].JSON, New: after[0].JSON, Before: before[0].Published, After: after[0].Published,
			})
			before, after = before[1:], after[1:]
		}
	}
	return out
}
