// Package history keeps events in the document store: who changed which document, by
// which request, and how the document was before and after. The stored documents hold no
// secrets.
package history

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// MaxDocument is the size above which a document is not kept in an event, in
// bytes of JSON.
const MaxDocument = 16 << 10

// Options say what a History works with.
type Options struct {
	Documents intent.Store
	// Count is how many events of each project or cluster provider are kept, and a tenth
	// more while they are written. If it is 0, as many stay as Prune leaves.
	Count int
	// Announce tells followers of an event that is kept; nil: nobody.
	Announce func(ctx context.Context, e intent.Event) error
	// Lost is told of each event that could not be kept.
	Lost   func()
	Now    func() time.Time
	Logger *slog.Logger
}

// History keeps events. Safe for concurrent use.
//
// An event is written after what it tells of. When that fails, the event is
// lost, which is logged and counted: nothing is undone or refused for it.
type History struct {
	Options
	growth growth
}

// New makes a History.
func New(options Options) *History { return &History{Options: options} }

// Wrote notes a write of the document: before is nil for a new one, after for
// one that was deleted. A write that changed nothing is no event.
func (h *History) Wrote(ctx context.Context, before, after *intent.Document) {
	if before != nil && after != nil && before.UID == after.UID && before.Revision == after.Revision {
		return
	}
	by := intent.By(ctx)
	e := intent.Event{Time: h.Now().UTC(), Actor: by.Subject, RequestID: by.RequestID}
	switch {
	case before == nil:
		e.Action, e.Outcome, e.Path, e.Revision = intent.Create, "stored", after.Path, after.Revision
	case after == nil:
		e.Action, e.Outcome, e.Path, e.Revision = intent.Delete, "deleted", before.Path, before.Revision
	default:
		e.Action, e.Outcome, e.Path, e.Revision = intent.Replace, "stored", after.Path, after.Revision
		e.Message = changed(before.Body, after.Body)
	}
	var lost error
	if e.Before, lost = show(before); lost == nil {
		e.After, lost = show(after)
	}
	if lost != nil {
		h.lose(ctx, e, lost)
		return
	}
	// The top document may be what has just gone: nobody reads its history any more.
	if after == nil && topOf(e.Path) == e.Path {
		h.keep(ctx, before.UID, e)
		return
	}
	h.Told(ctx, e.Path, e)
}

// show is a document as an event keeps it, nothing for none and for one that is
// too large.
func show(doc *intent.Document) (json.RawMessage, error) {
	if doc == nil {
		return nil, nil
	}
	raw, err := redacted(doc.Body)
	if err != nil || len(raw) > MaxDocument {
		return nil, err
	}
	return raw, nil
}

// Told notes events of an owner: a deployment intent group, a logical cloud, a
// record or a cluster.
func (h *History) Told(ctx context.Context, owner intent.Path, events ...intent.Event) {
	if len(events) == 0 {
		return
	}
	// enough is the time to note an event, also if its caller has gone by then.
	const enough = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enough)
	defer cancel()
	// As the caller has read it. If it was replaced meanwhile, nobody asks for events of its predecessor.
	top, err := h.Documents.Get(snapshot.Earlier(ctx), topOf(owner))
	for _, e := range events {
		e.Path = owner
		if err != nil {
			h.lose(ctx, e, err)
			continue
		}
		h.keep(ctx, top.UID, e)
	}
}

// Kept tells whether an event of a drain or an undrain is kept.
func (h *History) Kept(ctx context.Context, owner intent.Path, e intent.Event) (bool, error) {
	top, err := h.Documents.Get(ctx, topOf(owner))
	if err != nil {
		return false, err
	}
	e.Path = owner
	_, err = h.Documents.Get(ctx, at(top.Path, top.UID, e))
	if intent.CodeOf(err) == intent.NotFound {
		return false, nil
	}
	return err == nil, err
}

// keep writes an event of the top document with that identity.
func (h *History) keep(ctx context.Context, uid string, e intent.Event) {
	raw, err := json.Marshal(e)
	top := topOf(e.Path)
	if err == nil {
		_, err = h.Documents.Put(ctx, intent.Write{Path: at(top, uid, e), Body: raw, Condition: intent.IfAbsent()})
	}
	if toldOnce(e) && intent.CodeOf(err) == intent.Conflict {
		return // it is kept already
	}
	if err == nil && h.Announce != nil {
		err = h.Announce(ctx, e)
	}
	if err != nil {
		h.lose(ctx, e, err)
		return
	}
	h.bound(ctx, stream(top, uid))
}

func (h *History) lose(ctx context.Context, e intent.Event, err error) {
	h.Lost()
	h.Logger.ErrorContext(ctx, "an event is not kept in the history", "path", e.Path, "action", e.Action, "actor", e.Actor, "requestID", e.RequestID, "error", err)
}

// stream begins the names of a top document's events. Another document of the
// same name, such as another team's project, does not see them.
func stream(top intent.Path, uid string) string { return string(top) + "/" + uid + "/" }

// at names an event. Names of later events come first.
func at(top intent.Path, uid string, e intent.Event) intent.Path {
	const digits = 8
	which := rand.Text()[:digits]
	if toldOnce(e) {
		sum := sha256.Sum256([]byte(strings.Join([]string{string(e.Path), string(e.Action), e.Outcome, e.Message}, "\n")))
		which = hex.EncodeToString(sum[:digits])
	}
	return intent.Join(intent.HistoryCollection, fmt.Sprintf("%s%019d-%s", stream(top, uid), math.MaxInt64-e.Time.UnixNano(), which))
}

// toldOnce tells that an event may be told again, by the same process or another, and is kept once.
func toldOnce(e intent.Event) bool { return e.Action == intent.Drain || e.Action == intent.Undrain }

// topOf is the document at the top that a path is below, or is: a project, or a
// cluster provider.
func topOf(path intent.Path) intent.Path {
	const segments = 2
	parts := strings.SplitN(string(path), "/", segments+1)
	return intent.Join(parts[:min(segments, len(parts))]...)
}

// streamOf is the stream that an event is in.
func streamOf(event intent.Path) string {
	name := event.Name()
	return name[:strings.LastIndexByte(name, '/')+1]
}
