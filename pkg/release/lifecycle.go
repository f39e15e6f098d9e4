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
	History   []Past            `json:"history,omitempty"`  // earlier releases, oldest first
	Uses      []Use             `json:"uses"`               // the providers that the release relies on
	Leaving   []Use             `json:"leaving,omitempty"`  // those of earlier releases that the context may still rely on
	Draining  []Use             `json:"draining,omitempty"` // those that it no longer does, until they are settled
	Former    []Use             `json:"former,omitempty"`   // of homes that records have left, while their names are in both
	Vacating  []string          `json:"vacating,omitempty"` // clusters of earlier releases that may still hold objects
	Offers    []Offer           `json:"offers,omitempty"`   // of autopath: what a logical cloud's release offers, or a group's relies on
	Refs      []intent.Path     `json:"refs,omitempty"`
	Leftovers []intent.Leftover `json:"leftovers,omitempty"`
	Events    []intent.Event    `json:"events"`

	AppContext string     `json:"appContext,omitempty"` // of EMCO's that the release is for; empty: Signpost deploys the apps
	Prepared   []Prepared `json:"prepared,omitempty"`   // for app contexts of EMCO's, oldest first
	Unkept     string     `json:"unkept,omitempty"`     // app context of EMCO's that is current in place of AppContext, and that no release is kept for

	revision int64
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
	l.Events = append(l.Events, e)
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
// owner left counts for its sequence number alone.
func (s *Service) lifecycle(ctx context.Context, owner intent.Path, ownerUID string) (Lifecycle, error) {
	l, err := s.storedLifecycle(ctx, owner)
	if err == nil && ownerUID != "" && l.OwnerUID != ownerUID {
		return Lifecycle{OwnerUID: ownerUID, revision: l.revision}, nil
	}
	return l, err
}

func (s *Service) storedLifecycle(ctx context.Context, owner intent.Path) (Lifecycle, error) {
	var l Lifecycle
	revision, err := readDocument(ctx, s.Documents, lifecyclePath(owner), &l)
	l.revision = revision
	return l, err
}

// swap stores the lifecycle if it is still at the revision that was read.
func (s *Service) swap(ctx context.Context, owner intent.Path, l Lifecycle) (Lifecycle, error) {
	revision, err := swapDocument(ctx, s.Documents, lifecyclePath(owner), l, l.Refs, l.revision)
	l.revision = revision
	return l, err
}

// readDocument decodes an internal document and answers its revision, 0 when
// there is none.
func readDocument(ctx context.Context, store intent.Store, path intent.Path, into any) (int64, error) {
	doc, err := store.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return doc.Revision, json.Unmarshal(doc.Body, into)
}

// swapDocument stores an internal document at a known revision, 0 for none.
// Its loser gets a PreconditionFailed error.
func swapDocument(ctx context.Context, store intent.Store, path intent.Path, body any, refs []intent.Path, revision int64) (int64, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	condition := intent.IfAbsent()
	if revision > 0 {
		condition = intent.IfRevision(revision)
	}
	doc, err := store.Put(ctx, intent.Write{Path: path, Body: raw, Refs: refs, Condition: condition})
	var missing *intent.MissingReference
	if intent.CodeOf(err) == intent.Conflict && !errors.As(err, &missing) {
		return 0, &intent.Error{Code: intent.PreconditionFailed, Detail: string(path) + " was created meanwhile", Err: err}
	}
	return doc.Revision, err
}
