package state

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Lifecycle is the document that says where a deployment intent group stands: which
// release is wanted, and what came of it. It lives in the internal lifecycle collection
// under the group's path. It refers to the group and to the documents of its release, as
// long as that is in a cluster.
type Lifecycle struct {
	OwnerUID        string            `json:"ownerUID"`  // of the group; another one is another life
	Wanted          intent.Action     `json:"wanted"`    // what was accepted last
	Seq             int64             `json:"seq"`       // of the release, from 1
	ContextID       string            `json:"contextID"` // of the release
	Settled         bool              `json:"settled"`   // every object was applied, or is gone, once
	Failure         string            `json:"failure,omitempty"`
	Since           time.Time         `json:"since,omitzero"`     // when it was accepted
	Done            time.Time         `json:"done,omitzero"`      // when it settled
	Trace           string            `json:"trace,omitempty"`    // of the request that was accepted, as traceparent
	History         []Past            `json:"history,omitempty"`  // earlier releases, oldest first
	Names           int               `json:"names,omitempty"`    // how many the release publishes; 0 for one of before there were quotas
	Objects         int               `json:"objects,omitempty"`  // how many the release has on its clusters; 0 likewise
	Uses            []Use             `json:"uses,omitempty"`     // the providers that the release relies on
	Leaving         []Use             `json:"leaving,omitempty"`  // those of earlier releases that the context may still rely on
	Draining        []Use             `json:"draining,omitempty"` // those that it no longer does, until they are settled
	Former          []Use             `json:"former,omitempty"`   // of homes that records have left, while their names are in both
	RemovedClusters []string          `json:"vacating,omitempty"` // clusters of earlier releases that may still hold objects
	Offers          []Offer           `json:"offers,omitempty"`   // of autopath: what a logical cloud's release offers, or a group's relies on
	PendingRelease  []string          `json:"shed,omitempty"`     // context ids of earlier releases of which names are to be freed
	Cleared         time.Time         `json:"cleared,omitzero"`   // when, once it had settled, no cluster had the DNSEndpoints any more that gave these names
	Taking          intent.Path       `json:"taking,omitempty"`   // the group whose names are taken over, until it has handed them over
	Transferred     []Transfer        `json:"yielded,omitempty"`  // names of the release that others have taken over
	Retained        []RetainedNames   `json:"held,omitempty"`     // names that stay although nothing offers them an address, by record
	Refs            []intent.Path     `json:"-"`                  // of the document; in order, and none twice, after it was read
	Drained         []string          `json:"drained,omitempty"`  // clusters of its public names that were drained when it was last looked at
	Foreign         []string          `json:"foreign,omitempty"`  // clusters where a Service of its names is in another project's namespace, likewise: nothing of it may be told
	FailSafe        bool              `json:"failSafe,omitempty"` // some of its addresses stay because most clusters fail at once
	Leftovers       []intent.Leftover `json:"leftovers,omitempty"`
	Events          []intent.Event    `json:"events"`

	Name *intent.NameDocument `json:"name,omitempty"` // the document of a name, whose lifecycle this is; nil of other owners

	AppContext string     `json:"appContext,omitempty"` // that the release is for; empty: Signpost deploys the apps
	Prepared   []Prepared `json:"prepared,omitempty"`   // for app contexts, oldest first
	Unkept     string     `json:"unkept,omitempty"`     // app context that is current in place of AppContext, and that no release is kept for

	Revision int64 `json:"-"`
	Schema   int   `json:"-"` // that its release needs
	untold   int   // how many of the last Events are not stored yet
}

// Use is one external-dns that a group's release relies on.
type Use struct {
	Record  intent.Path
	Scope   intent.Scope
	Cluster string
}

// Past is an earlier release of a group.
type Past struct {
	Seq       int64  `json:"seq"`
	ContextID string `json:"contextID"`
}

// KeptReleases is how many earlier releases are kept.
const KeptReleases = 10

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

// Deployed says whether the group's release is to be in the clusters.
func (l *Lifecycle) Deployed() bool { return l.Seq > 0 && l.Wanted != intent.Terminate }

// Record adds an event, and drops the oldest of too many.
func (l *Lifecycle) Record(e intent.Event) {
	l.Events, l.untold = append(slices.Clip(l.Events), e), l.untold+1
	if extra := len(l.Events) - keptEvents; extra > 0 {
		l.Events = slices.Clone(l.Events[extra:])
	}
}

// LifecyclePath is where the lifecycle document of an owner is.
func LifecyclePath(owner intent.Path) intent.Path {
	return intent.Join(intent.LifecycleCollection, string(owner))
}

// OwnerOf is whose a lifecycle document is.
func OwnerOf(lifecycle intent.Path) intent.Path {
	return intent.Path(strings.TrimPrefix(string(lifecycle), intent.LifecycleCollection+"/"))
}

// Lifecycle reads an owner's lifecycle document; what another life of the
// owner left counts for the names that are still to be freed alone.
func (s *Store) Lifecycle(ctx context.Context, owner intent.Path, ownerUID string) (Lifecycle, error) {
	l, err := s.StoredLifecycle(ctx, owner)
	return ofOwner(l, ownerUID), err
}

// ofOwner is a lifecycle as it counts for an owner with an identity; empty: for any.
func ofOwner(l Lifecycle, ownerUID string) Lifecycle {
	if ownerUID != "" && l.OwnerUID != ownerUID {
		return Lifecycle{OwnerUID: ownerUID, PendingRelease: l.PendingRelease, Name: l.Name, Revision: l.Revision}
	}
	return l
}

// Owned reads an owner's document and its Lifecycle. A name has both in one document.
func Owned(ctx context.Context, s *Store, owner intent.Path) (intent.Document, Lifecycle, error) {
	if !intent.IsName(owner) {
		doc, err := s.Documents.Get(ctx, owner)
		if err != nil {
			return doc, Lifecycle{}, err
		}
		l, err := s.Lifecycle(ctx, owner, doc.UID)
		return doc, l, err
	}
	l, err := s.StoredLifecycle(ctx, owner)
	if err == nil && l.Name == nil {
		err = intent.ErrNotFound(owner)
	}
	if err != nil {
		return intent.Document{}, l, err
	}
	doc := l.Name.At(owner)
	return doc, ofOwner(l, doc.UID), nil
}

// StoredLifecycle reads a lifecycle, whichever document of the name it belongs to.
func (s *Store) StoredLifecycle(ctx context.Context, owner intent.Path) (Lifecycle, error) {
	doc, err := s.Documents.Get(ctx, LifecyclePath(owner))
	if intent.CodeOf(err) == intent.NotFound {
		return Lifecycle{}, nil
	}
	if err != nil {
		return Lifecycle{}, err
	}
	return ReadLifecycle(doc)
}

// EachLifecycle visits the lifecycles of groups and logical clouds whose paths begin with a prefix, in order.
func (s *Store) EachLifecycle(ctx context.Context, prefix string, visit func(owner intent.Path, l Lifecycle) error) error {
	return intent.Each(ctx, s.Documents, intent.ListOptions{Collection: intent.LifecycleCollection, NamePrefix: prefix, Limit: intent.PageItems, Bytes: intent.PageBytes}, func(doc intent.Document) error {
		owner := OwnerOf(doc.Path)
		if IsRecord(owner) {
			return nil
		}
		l, err := ReadLifecycle(doc)
		if err != nil {
			return err
		}
		return visit(owner, l)
	})
}

// EachRecord visits the lifecycles of all records, in order.
func (s *Store) EachRecord(ctx context.Context, visit func(record intent.Path, l RecordLifecycle) error) error {
	return intent.Each(ctx, s.Documents, intent.ListOptions{Collection: intent.LifecycleCollection, Limit: intent.PageItems, Bytes: intent.PageBytes}, func(doc intent.Document) error {
		record, l := OwnerOf(doc.Path), RecordLifecycle{revision: doc.Revision}
		if !IsRecord(record) {
			return nil
		}
		if err := json.Unmarshal(doc.Body, &l); err != nil {
			return err
		}
		return visit(record, l)
	})
}

// Swap stores the lifecycle if it is still at the revision that was read, and
// has told what was recorded in it then.
func (s *Store) Swap(ctx context.Context, owner intent.Path, l Lifecycle) error {
	untold := l.Events[max(len(l.Events)-l.untold, 0):]
	for n := range untold {
		untold[n].RequestID = intent.By(ctx).RequestID
	}
	_, err := SwapDocument(ctx, s.Documents, stored(owner, l), intent.Write{Path: LifecyclePath(owner), Refs: l.Refs, Schema: l.Schema}, l.Revision)
	if err == nil {
		s.Tell(ctx, owner, untold...)
	}
	return err
}

// Differ tells whether Save would store a lifecycle.
func Differ(was, is *Lifecycle) bool {
	return !reflect.DeepEqual(was, is) && (!same(*was, *is) || !sameRefs(was.Refs, is.Refs))
}

// Save stores a lifecycle as it was changed, unless it says what was read, and drops
// the releases that it does not name any more.
func (s *Store) Save(ctx context.Context, owner intent.Path, was, is Lifecycle) error {
	if !Differ(&was, &is) {
		return nil
	}
	if err := s.Swap(ctx, owner, is); err != nil {
		return err
	}
	if err := dropForgotten(ctx, s, was, is); err != nil {
		s.Logger.DebugContext(ctx, "an old release is left to the next sweep", "owner", owner, "error", err)
	}
	return nil
}

// Tell has events noted in the history.
func (s *Store) Tell(ctx context.Context, owner intent.Path, events ...intent.Event) {
	if s.Recorder != nil {
		s.Recorder(ctx, owner, events...)
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

// SwapDocument stores an internal document at a known revision, 0 for none.
// Its loser gets a PreconditionFailed error.
func SwapDocument(ctx context.Context, store intent.Store, body any, write intent.Write, revision int64) (intent.Document, error) {
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

// KeepRemovedClusters drops the clusters that hold nothing of the group any more.
func (l *Lifecycle) KeepRemovedClusters(clusters []string) {
	for _, cluster := range l.RemovedClusters {
		if !slices.Contains(clusters, cluster) {
			l.Refs = slices.DeleteFunc(slices.Clone(l.Refs), func(p intent.Path) bool { return p == intent.ClusterPath(cluster) && !l.reliesOn(p) })
		}
	}
	l.RemovedClusters = clusters
}

// reliesOn tells whether a document is a provider's whose names the owner has. It may be a
// home, too: that of its built-in publisher.
func (l *Lifecycle) reliesOn(path intent.Path) bool {
	of := func(u Use) bool { return u.Record == path }
	return slices.ContainsFunc(l.Uses, of) || slices.ContainsFunc(l.Leaving, of) || slices.ContainsFunc(l.Former, of)
}

// RelyOn notes the providers that the release relies on from now on, and that those of before are left.
func (l *Lifecycle) RelyOn(uses []Use) {
	l.Leaving = Without(append(slices.Clone(l.Leaving), l.Uses...), uses)
	l.Draining = Without(l.Draining, uses)
	l.Uses, l.Former = uses, nil
	for _, use := range l.Leaving {
		if !slices.Contains(l.Refs, use.Record) {
			l.Refs = append(l.Refs, use.Record)
		}
	}
}

// Complete notes that the wanted action has had its effect.
func (l *Lifecycle) Complete(now time.Time) {
	l.Settled, l.Done, l.Cleared = true, now, time.Time{}
	if l.Wanted == intent.Terminate {
		l.Refs, l.Name = nil, nil
	}
	l.Record(l.completion())
}

// Fail notes why the release cannot be brought to its app context.
func (l *Lifecycle) Fail(cause error, now time.Time) {
	if l.Failure != cause.Error() {
		l.Failure = cause.Error()
		l.Record(intent.Event{Time: now, Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "failed", Message: l.Failure})
	}
}

// OwnerGone says whether an owner has no context and nothing left of one.
func (s *Store) OwnerGone(ctx context.Context, owner appcontext.Owner) (bool, error) {
	pointer, err := s.Contexts.Current(ctx, owner)
	if err != nil || pointer.ContextID != "" {
		return false, err
	}
	left, err := s.Left(ctx, pointer)
	return !left, err
}

// Leaves says whether the group relied on a record that it no longer uses. The
// record's own lifecycle keeps it as long as it is deployed.
func (l *Lifecycle) Leaves(record intent.Path) bool {
	of := func(u Use) bool { return u.Record == record }
	return slices.ContainsFunc(l.Leaving, of) && !slices.ContainsFunc(l.Uses, of)
}

// pinnedAt is the lifecycle of a provider as it was read.
type pinnedAt struct {
	path     intent.Path
	uid      string
	revision int64
}

// mostPinned is how many providers are remembered.
const mostPinned = 64

// Pinned answers the records of a group's bindings as they are deployed. It does not read
// again what was read already. The groups of one provider share the map, which nobody may change.
func (s *Store) Pinned(ctx context.Context, g plan.Group, read ...intent.Document) (map[string]plan.Record, error) {
	at, alone := onlyPinned(g, read)
	if known, is := s.pinned.Get(at); alone && is {
		return known, nil
	}
	records, err := readPinned(ctx, s, g, read)
	if err == nil && alone {
		s.pinned.Keep(at, records, mostPinned)
	}
	return records, err
}

// onlyPinned is the lifecycle of a group's only provider, if it was read.
func onlyPinned(g plan.Group, read []intent.Document) (pinnedAt, bool) {
	if len(g.Bindings) == 0 || slices.ContainsFunc(g.Bindings, func(b plan.Binding) bool { return b.Record != g.Bindings[0].Record }) {
		return pinnedAt{}, false
	}
	path := LifecyclePath(RecordPath(g, g.Bindings[0]))
	n := slices.IndexFunc(read, func(doc intent.Document) bool { return doc.Path == path })
	if n < 0 {
		return pinnedAt{}, false
	}
	return pinnedAt{path, read[n].UID, read[n].Revision}, true
}

func readPinned(ctx context.Context, s *Store, g plan.Group, read []intent.Document) (map[string]plan.Record, error) {
	records := map[string]plan.Record{}
	for _, b := range g.Bindings {
		if _, known := records[b.Record]; known {
			continue
		}
		path := RecordPath(g, b)
		at := slices.IndexFunc(read, func(doc intent.Document) bool { return doc.Path == LifecyclePath(path) })
		var l RecordLifecycle
		var err error
		if at >= 0 {
			err = json.Unmarshal(read[at].Body, &l)
		} else {
			l, err = s.RecordLifecycle(ctx, path)
		}
		if err != nil {
			return nil, err
		}
		records[b.Record] = l.Record
	}
	return records, nil
}
