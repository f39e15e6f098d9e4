package handover

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Handover is what rsync has, and is to have, of one owner on one cluster. It
// is not safe for concurrent use.
type Handover struct {
	handed
	observation
	attempts

	meta    appcontext.Meta
	metaOf  *string // the context of the owner's that meta follows from, nil for none yet
	rests   bool    // nothing is left to do, as far as was seen
	looks   int     // how often nothing had changed
	again   bool    // Context is to be installed again
	redoing bool    // and rsync has been asked to
	logger  *slog.Logger
}

// The times that are waited. Before rsync is asked again, the time doubles. Rsync does
// some things by itself a moment after others. Another hand that has taken a context away
// has to say why.
const (
	askFirst   = time.Second
	askLongest = time.Minute
	moment     = 5 * time.Second
	patience   = 30 * time.Second
	headstart  = 10 * time.Second // of prerequisites
	mostMoves  = 8                // in one step

	lookFirst   = 100 * time.Millisecond // how soon to look whether rsync is done, doubling
	lookLongest = 10 * time.Second
)

// Step brings rsync one step nearer to what is wanted, which is everything
// that the owner has on the cluster. It waits for nothing but rsync's answers.
// An error is the store's, or ledger.ErrLost; that rsync does not do what it is
// asked is none.
func (h *Handover) Step(ctx context.Context, w Wanted) error {
	if h.metaOf == nil || *h.metaOf != w.ContextID {
		meta, err := h.store.meta(ctx, w.ContextID)
		if err != nil {
			return err
		}
		h.meta, h.metaOf = meta, &w.ContextID
	}
	for range mostMoves {
		if h.rests && !h.differs(w) {
			return nil
		}
		moved, err := h.move(ctx, w)
		if err != nil || !moved {
			h.looks++
			return err
		}
		h.looks = 0
	}
	return nil
}

// move does the next thing, and tells whether there is another to do at once.
func (h *Handover) move(ctx context.Context, w Wanted) (moved bool, err error) {
	h.rests = false
	if h.record.Draft != "" {
		return true, h.discard(ctx)
	}
	if err := h.look(ctx, h.handed); err != nil {
		return false, err
	}
	now := h.seen[h.record.Context]
	if h.barred(now) {
		h.logger.InfoContext(ctx, "rsync has no credentials of the logical cloud for the cluster, and takes those of level 0")
		next := h.record
		next.Admin = true
		return true, h.commit(ctx, next, nil)
	}
	if len(w.Objects) == 0 && h.record.Context != "" && h.record.Before == "" {
		return true, h.changed(h.withdraw(ctx))
	}
	if h.record.Context != "" && (!now.ended() || now.state != "Instantiated" || h.again) {
		if moved, err := h.drive(ctx, now); err != nil || moved || !now.ended() {
			return moved, err
		}
	}
	if h.record.Before != "" {
		return h.finish(ctx, w)
	}
	if err := h.clear(ctx); err != nil {
		return false, err
	}
	if h.differs(w) {
		return true, h.changed(h.replace(ctx, w.Objects, h.description()))
	}
	h.redoing = h.redoing && !now.ended()
	h.rests = !h.again && len(h.record.Spent) == 0 && (h.record.Context == "" || now.state == "Instantiated")
	return false, nil
}

// changed forgets what came of earlier changes, if there is a new one.
func (h *Handover) changed(err error) error {
	if err == nil {
		h.begin()
	}
	return err
}

// differs tells whether rsync is to have something else than it has. Prerequisites stay,
// even if nobody wants them any more.
func (h *Handover) differs(w Wanted) bool {
	if len(w.Objects) == 0 {
		return h.record.Context != ""
	}
	if meta := h.description(); h.record.Context == "" || h.record.Level != meta.Level || h.record.Namespace != meta.Namespace {
		return true
	}
	return slices.ContainsFunc(bundle.Diff(h.given, w.Objects), func(c bundle.Change) bool {
		return c.Action != bundle.Unchanged && (c.Action != bundle.Delete || h.owner != Prerequisites)
	})
}

// barred tells whether rsync has found no credentials: it has not even tried to
// reach the cluster then. A logical cloud has some for its own clusters, and the
// home of external-dns need not be one of them.
func (h *Handover) barred(now contextState) bool {
	return now.ended() && now.state == "InstantiateFailed" && !h.tried && h.record.Level != "0" && !h.record.Admin
}

// description is the meta of what is handed over.
func (h *Handover) description() appcontext.Meta {
	meta := h.meta
	if h.record.Admin {
		meta.Level, meta.Namespace = "0", defaultNamespace
	}
	return meta
}

// drive has rsync install what it is to have.
func (h *Handover) drive(ctx context.Context, now contextState) (moved bool, err error) {
	id := h.record.Context
	install := func(ctx context.Context) error { return h.store.Rsync.Install(ctx, id) }
	switch {
	case now.gone, now.in("Terminating", "Terminated", "TerminateFailed", "Updating", "Updated", "UpdatedFailed"):
		if !h.stands(id+now.state, patience) {
			return false, nil
		}
		h.logger.WarnContext(ctx, "an app context of Signpost was removed by somebody else, and is handed over again", "context", id, "state", now.state)
		return true, h.changed(h.withdraw(ctx))
	case now.state == "" && h.seen[h.record.Before].ended() && h.seen[h.record.Before].state == "Instantiated" && h.owner != Prerequisites:
		return h.ask(ctx, "update", func(ctx context.Context) error { return h.store.Rsync.Update(ctx, h.record.Before, id) })
	case now.state == "":
		return h.ask(ctx, "install", install)
	case now.active:
		h.trouble = ""
		return false, nil
	case now.in("Created", "Instantiating") && !h.stands(id+now.state, moment): // it begins at once, or was started anew in the middle
		return false, nil
	case now.state == "Instantiated":
		asked, err := h.ask(ctx, "install", install)
		h.again, h.redoing = h.again && !asked, asked
		return asked, err
	}
	return h.ask(ctx, "install", install)
}

// finish has rsync take away what it had before and is not to have any more.
func (h *Handover) finish(ctx context.Context, w Wanted) (moved bool, err error) {
	before, id := h.seen[h.record.Before], h.record.Before
	if h.record.Rest != "" {
		return h.finishRest(ctx, w)
	}
	left := h.left()
	switch {
	case len(left) == 0 && !before.active && before.in("Terminated", "TerminateFailed"): // it fails to terminate what is terminated
		return true, h.done(ctx)
	case h.record.Context == "" && h.owner != Prerequisites && before.in("Instantiated", "InstantiateFailed", "Instantiating", "Updated", "TerminateFailed"):
		return h.ask(ctx, "uninstall", func(ctx context.Context) error { return h.store.Rsync.Uninstall(ctx, id) })
	case before.active:
		return false, nil
	case len(left) == 0, before.gone, before.in("", "Created"):
		return true, h.done(ctx)
	case !h.stands(id+before.state, moment): // rsync begins to delete a moment after it has begun to replace
		return false, nil
	}
	h.logger.WarnContext(ctx, "rsync has left objects in the cluster, and is asked again", "objects", len(left), "state", before.state)
	return true, h.bury(ctx, left, false)
}

// left are the objects that rsync had before, is not to have any more, and has
// not deleted yet.
func (h *Handover) left() bundle.Bundle {
	var left bundle.Bundle
	for _, o := range h.before {
		if h.owner != Prerequisites && !holds(h.given, o.ID) && h.results.Resources[placeOf(o)].Status != "Deleted" {
			left = append(left, o)
		}
	}
	return left
}

// finishRest has rsync delete what was left. Objects that it never could apply need not
// be there to be deleted.
func (h *Handover) finishRest(ctx context.Context, w Wanted) (moved bool, err error) {
	id := h.record.Rest
	rest := h.seen[id]
	switch {
	case rest.gone:
		return true, h.done(ctx)
	case rest.active:
		return false, nil
	case rest.state == "":
		return h.ask(ctx, "install", func(ctx context.Context) error { return h.store.Rsync.Install(ctx, id) })
	case rest.state != "Terminated":
		return h.ask(ctx, "uninstall", func(ctx context.Context) error { return h.store.Rsync.Uninstall(ctx, id) })
	}
	results, err := h.store.emco.Results(ctx, id)
	if err != nil {
		return false, err
	}
	var left bundle.Bundle
	for _, o := range h.rest {
		if results.Resources[placeOf(o)].Status != "Deleted" && (w.Applied == nil || w.Applied(o.ID)) {
			left = append(left, o)
		}
	}
	switch {
	case len(left) == 0:
		return true, h.done(ctx)
	case h.early():
		return false, nil
	}
	h.fail("rsync cannot delete " + left[0].ID.String())
	return true, h.bury(ctx, left, true)
}

// ask asks rsync, unless it is too early to ask again.
func (h *Handover) ask(ctx context.Context, call string, do func(context.Context) error) (done bool, err error) {
	if h.early() {
		return false, nil
	}
	if err := h.own(ctx); err != nil {
		return false, err
	}
	err = do(ctx)
	h.store.asked.WithLabelValues(call, outcome(err)).Inc()
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		h.logger.WarnContext(ctx, "rsync does not do what it was asked", "error", err)
		h.fail(err.Error())
		return false, nil
	}
	h.fail("")
	return true, nil
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "taken"
	case intent.CodeOf(err) == intent.Unavailable:
		return "silent"
	}
	return "refused"
}

func holds(b bundle.Bundle, id bundle.ID) bool {
	_, found := b.Find(id)
	return found
}

func placeOf(o bundle.Object) emco.Place {
	return emco.Place{App: o.App, Cluster: o.Cluster, Key: o.Name + "+" + o.Kind}
}

func same(b bundle.Bundle, o bundle.Object) bool {
	other, found := b.Find(o.ID)
	return found && bytes.Equal(other.JSON, o.JSON)
}
