// Package appcontext keeps bundles in etcd as app contexts, in the layout that EMCO's
// tools read, and says which context of an owner is current.
//
// An owner has a bundle of its own: a deployment intent group, or the external-dns of a
// provider in one cluster and scope. A context is written under a claim, in chunks, and
// becomes current in one transaction, so that a reader sees whole bundles only (I2).
package appcontext

import (
	"context"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Owner names what a context belongs to: the path of a deployment intent
// group, or a provider's ProviderOwner.
type Owner string

// Context is an app context: a whole bundle with its description.
type Context struct {
	ID       string // decimal, 63 bits
	Meta     Meta
	Objects  bundle.Bundle
	Services map[string][]string // cluster to the Services ("namespace/name") whose addresses matter to the owner

	// Placements are those that the cluster's nodes are to be held against.
	Placements map[string][]placement.Placement

	// Verify is how the names of an external-dns are verified; nil: they are not.
	Verify *Verify

	// Plain leaves out the keys that only EMCO's tools read. A small one is committed in one
	// transaction.
	Plain bool

	// CreateOnly has rsync create what is not there, and leave what is as it is:
	// EMCO's crd-install.
	CreateOnly bool
}

// Children are the contexts by which a program that puts objects into clusters knows an
// owner's own one: ids, in order.
type Children struct {
	Now    []string // one for each cluster
	Former []string // those that were in their place, the latest ones
}

// Meta is the context's description, as EMCO's layout has it.
type Meta struct {
	Project               string
	CompositeApp          string
	Version               string
	Release               string
	DeploymentIntentGroup string
	Namespace             string
	Level                 string
	ChildContextIDs       []string
	LogicalCloud          string
	LogicalCloudNamespace string // empty, but there, as in EMCO's own
	LogicalCloudLevel     string // so is this
}

// Verify is how the names are verified that an external-dns publishes.
type Verify struct {
	Servers []string `json:"servers,omitempty"` // "address:port" of the authoritative ones; none: those of the names' zones
	externaldns.InDNS
}

// Pointer says which context of an owner is current.
type Pointer struct {
	Owner      Owner                            `json:"-"`                    // the key has it
	ContextID  string                           `json:"contextID"`            // empty: the owner has nothing any more
	Seq        int64                            `json:"seq"`                  // rises with each context made current
	Since      time.Time                        `json:"since,omitzero"`       // UTC, when the context was made current, or the last one taken away
	Previous   string                           `json:"previous,omitempty"`   // the context before, kept
	Clusters   map[string][]string              `json:"clusters"`             // cluster to the apps that hold objects for it
	Services   map[string][]string              `json:"services,omitempty"`   // as in Context
	Placements map[string][]placement.Placement `json:"placements,omitempty"` // as in Context
	Withdrawn  map[string][]string              `json:"withdrawn,omitempty"`  // without a context: Clusters of the Previous one
	Suspended  bool                             `json:"suspended,omitempty"`  // the clusters are to be left as they are for now
	Verify     *Verify                          `json:"verify,omitempty"`     // as in Context
	Schema     int                              `json:"schema,omitempty"`     // the schema version that it needs; 0: 1
	Trace      string                           `json:"trace,omitempty"`      // in which the context was made current, as traceparent; empty: in none

	revision int64          // that wrote it, 0 for none
	absent   int64          // the revision at which there was none; 0: there was one
	touched  int64          // that wrote the touch beside it, 0 for none or not known
	stages   *intent.Stages // of the touch; nil: not known; not changed any more
	trail    string         // the touch's Trace
}

// Revision is the store's revision that wrote the pointer, or last changed an
// object of its context; 0 for none.
func (p Pointer) Revision() int64 { return max(p.revision, p.touched) }

// Stages are when the last change of single objects came to be decided, else when the context was made current.
func (p Pointer) Stages() intent.Stages {
	switch {
	case p.touched <= p.revision:
		return intent.Stages{Decided: p.Since}
	case p.stages == nil:
		return intent.Stages{}
	}
	return *p.stages
}

// Trail is the trace, as traceparent, in which the context was made current, or
// single objects of it were changed last; empty for none.
func (p Pointer) Trail() string {
	if p.touched > p.revision {
		return p.trail
	}
	return p.Trace
}

// unchanged compares that the pointer is as it was read. Single objects of its
// context may have changed. A pointer that was not there has not come and gone since.
func (p Pointer) unchanged() []kv.Compare {
	is := []kv.Compare{{Key: pointerKey(p.Owner), ModRevision: p.revision}}
	if p.revision == 0 {
		is = append(is, noneRetiredSince(p.absent))
	}
	return is
}

// changeable is the error of a pointer that needs a newer schema version than
// is known here.
func (p Pointer) changeable() error {
	return intent.CheckSchema("the current context of "+string(p.Owner), p.Schema)
}

// at is the pointer as it was written at a revision.
func (p Pointer) at(revision int64) Pointer {
	p.revision = revision
	return p
}

// Store keeps contexts in a kv.KV.
type Store struct {
	kv     kv.KV
	now    func() time.Time
	parsed parsed
	alike  alike
}

// NewStore makes a Store over kv that tells the time by now.
func NewStore(kv kv.KV, now func() time.Time) *Store { return &Store{kv: kv, now: now} }

const pointerPrefix = "/signpost/current/"

// movedKey is written with each pointer and each touch. It tells whether any has been written,
// however many there are.
const movedKey = "/signpost/moved"

// moving is the write of a pointer or touch, and what tells of it.
func moving(of kv.Op) []kv.Op { return []kv.Op{of, kv.Put(movedKey, nil)} }

// NoneMovedSince compares that no context has become current and no object of one has
// changed since a revision.
func NoneMovedSince(revision int64) kv.Compare { return kv.NotAfter(movedKey, revision) }

// Moved answers the revision at which a pointer or touch was written last, 0 for never, and
// the revision that this was read at.
func (s *Store) Moved(ctx context.Context) (last, revision int64, err error) {
	item, revision, err := s.kv.Get(ctx, movedKey)
	if err == nil && item != nil {
		last = item.ModRevision
	}
	return last, revision, err
}

// Keys are those of an owner's pointer. Current reads them.
func Keys(owner Owner) []string { return []string{pointerKey(owner), touchKey(owner)} }

// Resources are what the keys of the objects of a pointer's context begin with.
func (p Pointer) Resources() []string {
	var prefixes []string
	for _, cluster := range sortedKeys(p.Clusters) {
		for _, app := range p.Clusters[cluster] {
			prefixes = append(prefixes, resourcesKey(p.ContextID, app, cluster))
		}
	}
	return prefixes
}

// IsResources tells whether a prefix is of what a context has for an app and a cluster.
func IsResources(prefix string) bool {
	return strings.HasPrefix(prefix, contextPrefix) && strings.HasSuffix(prefix, "/resource/")
}

func pointerKey(owner Owner) string { return pointerPrefix + string(owner) }

// Current answers the owner's pointer. An owner that never had one gets a
// pointer of Seq 0.
func (s *Store) Current(ctx context.Context, owner Owner) (Pointer, error) {
	items, revision, err := s.kv.Range(ctx, kv.Range{Keys: []string{pointerKey(owner), touchKey(owner)}})
	if err != nil {
		return Pointer{Owner: owner}, err
	}
	pointers, err := s.decode(items)
	if err != nil || len(pointers) == 0 {
		return Pointer{Owner: owner, absent: revision}, err
	}
	return pointers[0], nil
}

// Pointers answers all pointers, ordered by owner, and the revision they were
// read at.
func (s *Store) Pointers(ctx context.Context) ([]Pointer, int64, error) {
	items, revision, err := s.kv.Range(ctx, kv.Range{Prefix: pointerPrefix})
	if err != nil {
		return nil, 0, err
	}
	pointers, err := s.decode(items)
	return pointers, revision, err
}

// Below answers the pointers of the owners that begin so.
func (s *Store) Below(ctx context.Context, owners string) ([]Pointer, error) {
	items, revision, err := s.kv.Range(ctx, kv.Range{Prefix: pointerPrefix + owners})
	if err != nil {
		return nil, err
	}
	touches, _, err := s.kv.Range(ctx, kv.Range{Prefix: touchPrefix + owners, Revision: revision})
	if err != nil {
		return nil, err
	}
	return s.decode(append(items, touches...))
}

// Change is a batch of pointers that changed, and of contexts of which single
// objects did, each in the order of the changes.
type Change struct {
	Pointers   []Pointer
	Touches    []Touch
	Revision   int64 // up to which the batch and those before it tell of all that changed
	Unreadable bool  // there are pointers among them that cannot be read
	Lost       bool  // history is missing: the reader lists the pointers again
}

// Watch delivers what changes from a revision on (inclusive) until ctx ends,
// when the channel closes.
func (s *Store) Watch(ctx context.Context, from int64) <-chan Change {
	return kv.Map(ctx, s.kv.Watch(ctx, pointerPrefix, from), s.changeOf)
}

func (s *Store) changeOf(batch kv.Batch) Change {
	change := Change{Revision: batch.Revision, Lost: batch.Compacted}
	for _, event := range batch.Events {
		owner, touched := touchedOwner(event.Key)
		switch {
		case touched && !event.Deleted:
			change.Touches = append(change.Touches, decodeTouch(owner, event.Item))
		case touched:
		case event.Deleted: // the owner has retired
			change.Pointers = append(change.Pointers, Pointer{Owner: Owner(strings.TrimPrefix(event.Key, pointerPrefix)), revision: event.ModRevision})
		default:
			p, err := s.alike.pointer(event.Item)
			if err != nil {
				change.Unreadable = true
				continue
			}
			change.Pointers = append(change.Pointers, p)
		}
	}
	return change
}

// decode reads pointers, and the touches behind them.
func (s *Store) decode(items []kv.Item) ([]Pointer, error) {
	var pointers []Pointer
	at := map[Owner]int{}
	for _, item := range items {
		if owner, is := touchedOwner(item.Key); is {
			if n, known := at[owner]; known {
				pointers[n] = pointers[n].After(decodeTouch(owner, item))
			}
			continue
		}
		p, err := s.alike.pointer(item)
		if err != nil {
			return nil, err
		}
		at[p.Owner] = len(pointers)
		pointers = append(pointers, p)
	}
	return pointers, nil
}
