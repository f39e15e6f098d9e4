package mongo

import (
	"context"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// pendingPatience is how long a deleter waits for writers that want to refer
// to its document.
const pendingPatience = 5 * time.Second

// Delete implements intent.Store.
func (s *Store) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	if err := draft.CheckPath(path); err != nil {
		return err
	}
	d := &deletion{path: path, condition: condition, deadline: time.Now().Add(pendingPatience)}
	return s.insist(ctx, path, func(ctx context.Context) (bool, error) { return s.tryDelete(ctx, d) })
}

// deletion is a Delete over all its attempts.
type deletion struct {
	path      intent.Path
	condition intent.Condition
	deadline  time.Time // when it stops to wait for writers that want to refer to the document
	marked    string    // the UID of the document that it has marked, empty before
}

// finishedByOther says that the document which the deletion has marked is
// gone: a sweeper took its deleter for dead and finished for it.
func (d *deletion) finishedByOther(found *record) bool {
	return d.marked != "" && (found.revision() == 0 || found.Live.UID != d.marked)
}

// tryDelete deletes once. It is not done when another write came between, or
// when somebody is about to refer to the document and there is time to wait.
func (s *Store) tryDelete(ctx context.Context, d *deletion) (bool, error) {
	path := d.path
	found, err := s.find(ctx, path)
	if err != nil {
		return false, err
	}
	if d.finishedByOther(found) {
		return true, nil
	}
	if found.revision() == 0 {
		return false, intent.ErrNotFound(path)
	}
	if err := d.condition.Check(path, found.revision()); err != nil {
		return false, err
	}
	if err := intent.CheckSchema(string(path), found.document().Schema); err != nil {
		return false, err
	}
	if found.busy() {
		return false, s.help(ctx, found)
	}
	// Most refusals need no mark, which would make others wait.
	h, err := s.holders(ctx, path)
	if err == nil && len(h.live) > 0 {
		err = draft.Referenced(path, h.live)
	}
	if err != nil {
		return false, err
	}
	token, err := s.token()
	if err != nil {
		return false, err
	}
	mark := found.marked(token, time.Now())
	if result, err := s.swap(ctx, "mark", found, mark); result != done || err != nil {
		return false, err
	}
	d.marked = mark.Live.UID
	return s.removeMarked(ctx, path, mark, time.Now().After(d.deadline))
}

// removeMarked removes the record unless it is referred to; then it takes the
// mark back.
func (s *Store) removeMarked(ctx context.Context, path intent.Path, mark *record, impatient bool) (bool, error) {
	h, err := s.holders(ctx, path)
	if err != nil {
		s.takeBack(ctx, "unmark", mark)
		return false, err
	}
	if h.none() {
		result, err := s.swap(ctx, "remove", mark, nil)
		if err == nil && result == overtaken {
			err = draft.Unknown(path, nil)
		}
		return result == done, err
	}
	s.takeBack(ctx, "unmark", mark)
	if len(h.live) > 0 || impatient {
		by := slices.Concat(h.live, h.pending)
		slices.Sort(by)
		return false, draft.Referenced(path, by)
	}
	// A pending writer either gets its reference or goes away.
	for _, holder := range h.pending {
		r, err := s.find(ctx, holder)
		if err == nil && r.busy() {
			err = s.help(ctx, r)
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
