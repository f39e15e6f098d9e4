package release

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Lifecycle is the document that says where a deployment intent group stands:
// which release is wanted, and what came of it. It lives in the internal
// lifecycle collection under the group's path, and refers to the group and to
// what its release uses as long as that is in a cluster.
type Lifecycle struct {
	OwnerUID  string            `json:"ownerUID"`  // of the group; another one is another life
	Wanted    intent.Action     `json:"wanted"`    // what was accepted last
	Seq       int64             `json:"seq"`       // of the release, from 1
	ContextID string            `json:"contextID"` // of the release
	Settled   bool              `json:"settled"`   // every object was applied, or is gone, once
	Failure   string            `json:"failure,omitempty"`
	Since     time.Time         `json:"since"`              // when it was accepted
	Done      time.Time         `json:"done"`               // when it settled
	Trace     string            `json:"trace,omitempty"`    // of the request that was accepted, as traceparent
	History   []Past            `json:"history,omitempty"`  // earlier releases, oldest first
	Names     int               `json:"names,omitempty"`    // how many the release publishes; 0 for one of before there were quotas
	Uses      []Use             `json:"uses"`               // the providers that the release relies on
	Leaving   []Use             `json:"leaving,omitempty"`  // those of earlier releases that the context may still rely on
	Draining  []Use             `json:"draining,omitempty"` // those that it no longer does, until they are settled
	Former    []Use             `json:"former,omitempty"`   // of homes that records have left, while their names are in both
	Vacating  []string          `json:"vacating,omitempty"` // clusters of earlier releases that may still hold objects
	Offers    []Offer           `json:"offers,omitempty"`   // of autopath: what a logical cloud's release offers, or a group's relies on
	Claimed   bool              `json:"claimed,omitempty"`  // its names have claims; not where an earlier Signpost accepted it
	Shed      []string          `json:"shed,omitempty"`     // context ids of earlier releases of which names are to be freed
	Cleared   time.Time         `json:"cleared,omitzero"`   // when, once it had settled, no cluster had the DNSEndpoints any more that gave these names
	Taking    intent.Path       `json:"taking,omitempty"`   // the group whose names are taken over, until it has yielded them
	Yielded   []Yield           `json:"yielded,omitempty"`  // names of the release that others have taken over
	Held      []Held            `json:"held,omitempty"`     // names that stay although nothing offers them an address, by record
	Refs      []intent.Path     `json:"refs,omitempty"`
	Leftovers []intent.Leftover `json:"leftovers,omitempty"`
	Events    []intent.Event    `json:"events"`

	AppContext string     `json:"appContext,omitempty"` // of EMCO's that the release is for; empty: Signpost deploys the apps
	Prepared   []Prepared `json:"prepared,omitempty"`   // for app contexts of EMCO's, oldest first
	Unkept     string     `json:"unkept,omitempty"`     // app context of EMCO's that is current in place of AppContext, and that no release is kept for

	revision int64
	schema   int // that its release needs
	untold   int // how many of the last Events are not stored yet
}

// Use is one external-dns that a group's release relies on.
type Use struct {
	Record  intent.Path  `json:"record"`
	Scope   intent.Scope `json:"scope"`
	Cluster string       `json:"cluster"`
}

// Past is an earlier release of a group.
type Past struct {
	Seq       int64  `json:"seq"`
	ContextID string `json:"contextID"`
}

// keptReleases is how many earlier releases are kept.
const keptReleases = 10

// keptEvents is how many events a lifecycle document keeps.
const keptEvents = 100

// State is the group's state as users see it.
func (l *Lifecycle) State() intent.State {
	switch {
	case l.Seq == 0:
		return intent.Created
	case l.Failure != "":
		return intent.Failed
	case l.Wanted == intent.Terminate && l.Settled:
		return intent.Terminated
	case l.Wanted == intent.Terminate:
		return intent.Terminating
	case l.Settled:
		return intent.Instantiated
	case l.Wanted == intent.Instantiate:
		return intent.Instantiating
	}
	return intent.Updating
}

// deployed says whether the group's release is to be in the clusters.
func (l *Lifecycle) deployed() bool { return l.Seq > 0 && l.Wanted != intent.Terminate }

func (l *Lifecycle) record(e intent.Event) {
	l.Events, l.untold = append(slices.Clip(l.Events), e), l.untold+1
	if extra := len(l.Events) - keptEvents; extra > 0 {
		l.Events = slices.Clone(l.Events[extra:])
	}
}

// lifecyclePath is where the lifecycle document of an owner is.
func lifecyclePath(owner intent.Path) intent.Path {
	return intent.Join(intent.LifecycleCollection, string(owner))
}

// ownerOf is whose a lifecycle document is.
func ownerOf(lifecycle intent.Path) intent.Path {
	return intent.Path(strings.TrimPrefix(string(lifecycle), intent.LifecycleCollection+"/"))
}

// lifecycle reads an owner's lifecycle document; what another life of the
// owner left counts for the names that are still to be freed alone.
func (s *Service) lifecycle(ctx context.Context, owner intent.Path, ownerUID string) (Lifecycle, error) {
	l, err := s.storedLifecycle(ctx, owner)
	if err == nil && ownerUID != "" && l.OwnerUID != ownerUID {
		return Lifecycle{OwnerUID: ownerUID, Shed: l.Shed, revision: l.revision}, nil
	}
	return l, err
}

func (s *Service) storedLifecycle(ctx context.Context, owner intent.Path) (Lifecycle, error) {
	var l Lifecycle
	doc, err := readDocument(ctx, s.Documents, lifecyclePath(owner), &l)
	l.revision, l.schema = doc.Revision, doc.Schema
	return l, err
}

// eachLifecycle visits the lifecycles of groups and logical clouds whose paths begin
// with a prefix, in order.
func (s *Service) eachLifecycle(ctx context.Context, prefix string, visit func(owner intent.Path, l Lifecycle) error) error {
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection, NamePrefix: prefix})
	if err != nil {
		return err
	}
	for _, doc := range page.Items {
		owner := ownerOf(doc.Path)
		if IsRecord(owner) {
			continue
		}
		l := Lifecycle{revision: doc.Revision, schema: doc.Schema}
		if err := json.Unmarshal(doc.Body, &l); err != nil {
			return err
		}
		if err := visit(owner, l); err != nil {
			return err
		}
	}
	return nil
}

// eachRecord visits the lifecycles of all records, in order.
func (s *Service) eachRecord(ctx context.Context, visit func(record intent.Path, l RecordLifecycle) error) error {
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection})
	if err != nil {
		return err
	}
	for _, doc := range page.Items {
		record := ownerOf(doc.Path)
		if !IsRecord(record) {
			continue
		}
		l := RecordLifecycle{revision: doc.Revision}
		if err := json.Unmarshal(doc.Body, &l); err != nil {
			return err
		}
		if err := visit(record, l); err != nil {
			return err
		}
	}
	return nil
}

// swap stores the lifecycle if it is still at the revision that was read, and
// has told what was recorded in it then.
func (s *Service) swap(ctx context.Context, owner intent.Path, l Lifecycle) (Lifecycle, error) {
	untold := l.Events[max(len(l.Events)-l.untold, 0):]
	for n := range untold {
		untold[n].RequestID = intent.By(ctx).RequestID
	}
	doc, err := swapDocument(ctx, s.Documents, l, intent.Write{Path: lifecyclePath(owner), Refs: l.Refs, Schema: l.schema}, l.revision)
	l.revision = doc.Revision
	if err == nil {
		s.tell(ctx, owner, untold...)
		l.untold = 0
	}
	return l, err
}

// tell has events noted in the history.
func (s *Service) tell(ctx context.Context, owner intent.Path, events ...intent.Event) {
	if s.Told != nil {
		s.Told(ctx, owner, events...)
	}
}

// readDocument decodes an internal document and answers it, with revision 0
// when there is none.
func readDocument(ctx context.Context, store intent.Store, path intent.Path, into any) (intent.Document, error) {
	doc, err := store.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return intent.Document{}, nil
	}
	if err != nil {
		return intent.Document{}, err
	}
	return doc, json.Unmarshal(doc.Body, into)
}

// swapDocument stores an internal document at a known revision, 0 for none.
// Its loser gets a PreconditionFailed error.
func swapDocument(ctx context.Context, store intent.Store, body any, write intent.Write, revision int64) (intent.Document, error) {
	var err error
	if write.Body, err = json.Marshal(body); err != nil {
		return intent.Document{}, err
	}
	write.Condition = intent.IfAbsent()
	if revision > 0 {
		write.Condition = intent.IfRevision(revision)
	}
	doc, err := store.Put(ctx, write)
	var missing *intent.MissingReference
	if intent.CodeOf(err) == intent.Conflict && revision == 0 && !errors.As(err, &missing) {
		return intent.Document{}, &intent.Error{Code: intent.PreconditionFailed, Detail: string(write.Path) + " was created meanwhile", Err: err}
	}
	return doc, err
}
