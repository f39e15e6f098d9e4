package state

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// storedLifecycle is a Lifecycle as its document holds it: without what repeats the path
// or the references of the document, or another field (ADR 0087).
type storedLifecycle struct {
	*Lifecycle
	OwnerUID  string        `json:"ownerUID,omitempty"`  // none: that of the name
	Wanted    intent.Action `json:"wanted,omitempty"`    // none: to instantiate a name
	Settled   bool          `json:"settled,omitempty"`   // or Completed
	Completed bool          `json:"completed,omitempty"` // it is settled, and has the event that says so behind Events
	Names     *int          `json:"names,omitempty"`     // nil: 1 of a name, else 0
	Objects   *int          `json:"objects,omitempty"`   // nil: likewise
	Events    []storedEvent `json:"events,omitempty"`
}

// storedEvent is an event of a lifecycle. A field that is nil is the lifecycle's own.
type storedEvent struct {
	Time      *time.Time     `json:"time,omitempty"` // nil: Since
	Actor     string         `json:"actor"`
	Action    *intent.Action `json:"action,omitempty"`   // nil: Wanted
	Revision  *int64         `json:"revision,omitempty"` // nil: Seq
	Outcome   string         `json:"outcome"`
	Message   string         `json:"message,omitempty"`
	RequestID string         `json:"requestID,omitempty"`
}

// stored is a lifecycle as the document of its owner holds it.
func stored(owner intent.Path, l Lifecycle) storedLifecycle {
	out := storedLifecycle{Lifecycle: &l, OwnerUID: l.OwnerUID, Wanted: l.Wanted, Settled: l.Settled}
	events := l.Events
	if last := len(events) - 1; l.Settled && last >= 0 && sameEvent(events[last], l.completion()) {
		out.Settled, out.Completed, events = false, true, events[:last]
	}
	for _, e := range events {
		out.Events = append(out.Events, l.storedEvent(e))
	}
	if l.Names != usual(&l) {
		out.Names = &l.Names
	}
	if l.Objects != usual(&l) {
		out.Objects = &l.Objects
	}
	eachUse(&l, func(u Use) Use { return u.within(owner) })
	if l.Name == nil {
		return out
	}
	if l.Name.UID == l.OwnerUID {
		out.OwnerUID = ""
	}
	if l.Wanted == intent.Instantiate {
		out.Wanted = ""
	}
	name := l.Name.Stored(owner)
	l.Name = &name
	return out
}

// ReadLifecycle is the lifecycle of a document. Its references are those of the document.
func ReadLifecycle(doc intent.Document) (Lifecycle, error) {
	var l Lifecycle
	from := storedLifecycle{Lifecycle: &l}
	if err := json.Unmarshal(doc.Body, &from); err != nil {
		return Lifecycle{}, fmt.Errorf("%s: %w", doc.Path, err)
	}
	usual := usual(&l)
	l.Names, l.Objects = *cmp.Or(from.Names, &usual), *cmp.Or(from.Objects, &usual)
	l.OwnerUID, l.Wanted, l.Settled = from.OwnerUID, from.Wanted, from.Settled || from.Completed
	if l.Name != nil {
		l.OwnerUID, l.Wanted = cmp.Or(l.OwnerUID, l.Name.UID), cmp.Or(l.Wanted, intent.Instantiate)
		l.Name.Revision = max(l.Name.Revision, 1)
	}
	for _, e := range from.Events {
		l.Events = append(l.Events, l.event(e))
	}
	if from.Completed {
		l.Events = append(l.Events, l.completion())
	}
	owner := OwnerOf(doc.Path)
	eachUse(&l, func(u Use) Use { return u.beyond(owner) })
	l.Refs, l.Revision, l.Schema = doc.Refs, doc.Revision, doc.Schema
	return l, nil
}

// usual is how many names and objects an owner has whose document does not say.
func usual(l *Lifecycle) int {
	if l.Name != nil {
		return 1
	}
	return 0
}

// completion is the event that the wanted action has had its effect.
func (l *Lifecycle) completion() intent.Event {
	return intent.Event{Time: l.Done, Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "completed"}
}

// sameEvent says whether two events of one lifecycle are the same.
func sameEvent(a, b intent.Event) bool {
	return a.Time.Equal(b.Time) && a.Actor == b.Actor && a.Action == b.Action && a.Revision == b.Revision &&
		a.Outcome == b.Outcome && a.Message == b.Message && a.RequestID == b.RequestID
}

func (l *Lifecycle) storedEvent(e intent.Event) storedEvent {
	out := storedEvent{Actor: e.Actor, Outcome: e.Outcome, Message: e.Message, RequestID: e.RequestID}
	if !e.Time.Equal(l.Since) {
		out.Time = &e.Time
	}
	if e.Action != l.Wanted {
		out.Action = &e.Action
	}
	if e.Revision != l.Seq {
		out.Revision = &e.Revision
	}
	return out
}

func (l *Lifecycle) event(e storedEvent) intent.Event {
	return intent.Event{
		Time: *cmp.Or(e.Time, &l.Since), Actor: e.Actor, Action: *cmp.Or(e.Action, &l.Wanted), Revision: *cmp.Or(e.Revision, &l.Seq),
		Outcome: e.Outcome, Message: e.Message, RequestID: e.RequestID,
	}
}

// eachUse changes all uses of a lifecycle.
func eachUse(l *Lifecycle, change func(Use) Use) {
	for _, uses := range []*[]Use{&l.Uses, &l.Leaving, &l.Draining, &l.Former} {
		*uses = slices.Clone(*uses)
		for n, use := range *uses {
			(*uses)[n] = change(use)
		}
	}
}

// recordsOf is what the paths of the providers of an owner's project begin with.
func recordsOf(owner intent.Path) string {
	return string(intent.Join("projects", owner.Segment("projects"), "dns-update-records", ""))
}

// within is a use as an owner's lifecycle holds it: a provider of the owner's project by its name.
func (u Use) within(owner intent.Path) Use {
	u.Record = intent.Path(strings.TrimPrefix(string(u.Record), recordsOf(owner)))
	return u
}

// beyond is a use of within as it was.
func (u Use) beyond(owner intent.Path) Use {
	if !strings.Contains(string(u.Record), "/") {
		u.Record = intent.Path(recordsOf(owner)) + u.Record
	}
	return u
}

// MarshalText is the use as lifecycles and counts hold it: provider, scope and cluster.
func (u Use) MarshalText() ([]byte, error) {
	return []byte(string(u.Record) + " " + string(u.Scope) + " " + u.Cluster), nil
}

// UnmarshalText reads what MarshalText has written.
func (u *Use) UnmarshalText(text []byte) error {
	const parts = 3
	words := strings.Split(string(text), " ")
	if len(words) != parts {
		return fmt.Errorf("%q is not a provider, a scope and a cluster", text)
	}
	*u = Use{Record: intent.Path(words[0]), Scope: intent.Scope(words[1]), Cluster: words[2]}
	return nil
}

// same says whether two documents are stored alike, apart from their references.
func same[Document any](a, b Document) bool {
	was, errWas := json.Marshal(a)
	is, errIs := json.Marshal(b)
	return errWas == nil && errIs == nil && bytes.Equal(was, is)
}

// sameRefs says whether two lifecycles refer to the same documents, in any order.
func sameRefs(a, b []intent.Path) bool {
	if slices.Equal(a, b) {
		return true
	}
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}
