package appcontext

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Touch says which objects of an owner's current context have just changed. It
// is written beside the pointer in the same transaction as the objects. The
// pointer stays as it is, so that what a change costs does not grow with what
// the owner has.
type Touch struct {
	Owner   Owner     `json:"-"`
	Changed []string  `json:"changed,omitempty"` // where they are below the context, as in "app/web/cluster/edge+hub/resource/www+DNSEndpoint/", or without the last part: any there; none: any may have changed
	Service string    `json:"service,omitempty"` // "namespace/name" of the one whose addresses they follow; none: it was something else
	Cause   time.Time `json:"cause,omitzero"`    // UTC, when the observation was made that the change follows from; zero: not known
	Seen    time.Time `json:"seen,omitzero"`     // UTC, when the controller took the observation up; zero: not known
	Since   time.Time `json:"since,omitzero"`    // UTC, when the objects were changed; zero: not known
	Trace   string    `json:"trace,omitempty"`   // in which it was changed, as traceparent; empty: in none

	revision int64
}

// Revision is the store's revision that wrote the touch.
func (t Touch) Revision() int64 { return t.revision }

// Clusters are those that the objects are for, ordered; none: any.
func (t Touch) Clusters() []string {
	var out []string
	for _, place := range t.Changed {
		if _, rest, ok := strings.Cut(place, "/cluster/"); ok {
			cluster, _, _ := strings.Cut(rest, "/")
			out = append(out, cluster)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// After is the pointer as it is since a touch that came behind it.
func (p Pointer) After(t Touch) Pointer {
	if t.revision > p.touched {
		p.touched, p.stages, p.trail = t.revision, &intent.Stages{Observed: t.Cause, Seen: t.Seen, Decided: t.Since}, t.Trace
	}
	return p
}

// TouchedSince tells whether a touch that was read with this pointer is newer than that of an
// earlier pointer of its owner.
func (p Pointer) TouchedSince(earlier Pointer) bool { return p.touched > earlier.touched }

const touchPrefix = pointerPrefix + "touched/"

func touchKey(owner Owner) string { return touchPrefix + string(owner) }

// touchedOwner tells the key of a touch from a pointer's.
func touchedOwner(key string) (Owner, bool) {
	owner, is := strings.CutPrefix(key, touchPrefix)
	return Owner(owner), is
}

// decodeTouch reads a touch. A touch that cannot be read means that any object may have
// changed.
func decodeTouch(owner Owner, item kv.Item) Touch {
	var t Touch
	if json.Unmarshal(item.Value, &t) != nil {
		t = Touch{}
	}
	t.Owner, t.revision = owner, item.ModRevision
	return t
}

// Place is where a context keeps an object: under an app.
type Place struct {
	App string
	bundle.ID
}

// Held are objects of a context, as they were read at one revision.
type Held struct {
	Objects bundle.Bundle // those of the places that hold one

	places []kv.Compare
}

// Held reads single objects of a context by their places. It does not look
// whether the context is current: Replace does.
func (s *Store) Held(ctx context.Context, contextID string, places []Place) (Held, error) {
	h := Held{}
	keys := []string{}
	for _, at := range places {
		keys = append(keys, resourceKey(contextID, at.App, at.ID))
	}
	items, _, err := s.kv.Range(ctx, kv.Range{Keys: keys})
	if err != nil {
		return h, err
	}
	revisions := map[string]int64{}
	for _, item := range items {
		at := places[slices.Index(keys, item.Key)]
		o, err := s.parsed.resource(at.Cluster, at.App, item, len(items) > 1)
		if err != nil {
			return h, err
		}
		h.Objects = append(h.Objects, o)
		revisions[item.Key] = item.ModRevision
	}
	for _, key := range keys {
		h.places = append(h.places, kv.Compare{Key: key, ModRevision: revisions[key]})
	}
	h.Objects, err = bundle.Collect(h.Objects)
	return h, err
}

// Replace changes existing objects of the pointer's context, while the pointer, all
// objects that were held, and the comparison when are as they were read. Otherwise the
// error has the code ErrStale. Service, Cause and Seen of the Touch are those of about.
func (s *Store) Replace(ctx context.Context, p Pointer, was Held, when []kv.Compare, objects []bundle.Object, about Touch) error {
	var ops []kv.Op
	var keys []string
	for _, o := range objects {
		key := resourceKey(p.ContextID, o.App, o.ID)
		keys = append(keys, key)
		ops = append(ops, putJSON(key, text(o.JSON)))
	}
	ops = append(ops, s.touch(ctx, p, keys, about)...)
	when = slices.Concat(p.unchanged(), was.places, when)
	done, _, err := s.kv.Txn(ctx, when, ops...)
	if err == nil && !done {
		return stale("what " + string(p.Owner) + " has, or what it follows from, has changed")
	}
	return err
}

// touch is the write that tells of changed objects by their keys; none: of any.
func (s *Store) touch(ctx context.Context, p Pointer, keys []string, about Touch) []kv.Op {
	t := Touch{Service: about.Service, Cause: about.Cause, Seen: about.Seen, Since: s.now().UTC(), Trace: tracing.Parent(ctx)}
	for _, key := range keys {
		t.Changed = append(t.Changed, strings.TrimPrefix(key, contextKey(p.ContextID)))
	}
	return moving(putJSON(touchKey(p.Owner), t))
}
