package etcd

import (
	"context"
	"errors"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

const (
	// maxCompared is how many targets a transaction compares one by one. A write with
	// more new references compares instead that nothing was deleted since they were read,
	// by one mark for all. The write sets the mark if there is none, and each deletion
	// removes it. A deletion consists of deletes only, which etcd allows even when it is
	// full.
	maxCompared = 32

	// settleTimeout is how long a write whose answer was lost is looked for,
	// also when the caller's time is over.
	settleTimeout = 3 * time.Second

	// settleAttempts is how often it is looked for.
	settleAttempts = 4
)

// Put implements intent.Store.
func (s *Store) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	d, err := draft.Of(write)
	if err != nil {
		return intent.Document{}, err
	}
	if doc, done, err := s.putPresumed(ctx, d); done || err != nil {
		return doc, err
	}
	var doc intent.Document
	err = insist(ctx, d.Path, func() (done bool, err error) {
		doc, done, err = s.tryPut(ctx, d)
		return done, err
	})
	return doc, err
}

// putPresumed writes without a read, if it is known what is probably there. It is not
// done when that is not so, or nothing would change.
func (s *Store) putPresumed(ctx context.Context, d draft.Draft) (intent.Document, bool, error) {
	found, presumed := s.presumed(d.Path, d.Condition)
	if !presumed || len(d.Refs) > maxCompared {
		return intent.Document{}, false, nil
	}
	next, changed, err := d.Next(found.current(), s.now(), s.random)
	if err != nil || !changed {
		return intent.Document{}, false, err
	}
	done, err := s.replace(ctx, d, found, next)
	if !done {
		s.recent.Forget(d.Path)
	}
	return next, done, err
}

// insist tries until it is done: others are changing the same document.
func insist(ctx context.Context, path intent.Path, try func() (bool, error)) error {
	for {
		done, err := try()
		if done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return &intent.Error{Code: intent.Unavailable, Detail: string(path) + " is being changed by others", Err: err}
		}
	}
}

// tryPut writes once. It is not done when another write came between.
func (s *Store) tryPut(ctx context.Context, d draft.Draft) (intent.Document, bool, error) {
	found, err := s.read(ctx, d.Path)
	if err != nil {
		return intent.Document{}, false, err
	}
	if err := d.Condition.Check(d.Path, found.doc.Revision); err != nil {
		return intent.Document{}, false, err
	}
	next, changed, err := d.Next(found.current(), s.now(), s.random)
	if err != nil || !changed {
		return next, !changed, err
	}
	done, err := s.replace(ctx, d, found, next)
	if done || err != nil {
		return next, done, err
	}
	added, _ := draft.Diff(found.doc.Refs, next.Refs)
	return intent.Document{}, false, s.checkTargets(ctx, d.Path, added)
}

// replace writes a document in place of what was found. It is not done when that has
// changed.
func (s *Store) replace(ctx context.Context, d draft.Draft, found reading, next intent.Document) (bool, error) {
	write, err := draft.NewMark(s.random)
	if err != nil {
		return false, err
	}
	value, err := encode(next, write)
	if err != nil {
		return false, err
	}
	added, removed := draft.Diff(found.doc.Refs, next.Refs)
	when := []kv.Compare{kv.Unchanged(docKey(d.Path), found.item)}
	guards, err := s.guard(ctx, d.Path, added)
	if err != nil {
		return false, err
	}
	then := append([]kv.Op{kv.Put(docKey(d.Path), value)}, refOps(d.Path, added, removed)...)
	return s.commit(ctx, found, write, append(when, guards...), then)
}

// guard makes the compares that hold while all targets exist.
func (s *Store) guard(ctx context.Context, from intent.Path, targets []intent.Path) ([]kv.Compare, error) {
	if len(targets) <= maxCompared {
		guards := make([]kv.Compare, len(targets))
		for i, target := range targets {
			guards[i] = kv.Exists(docKey(target))
		}
		return guards, nil
	}
	mark, err := s.mark(ctx)
	if err != nil {
		return nil, err
	}
	return []kv.Compare{kv.Unchanged(deletedKey, mark)}, s.checkTargets(ctx, from, targets)
}

// mark is what stays as it is until something is deleted.
func (s *Store) mark(ctx context.Context) (*kv.Item, error) {
	for {
		mark, _, err := s.kv.Get(ctx, deletedKey)
		if err != nil || mark != nil {
			return mark, err
		}
		if _, _, err := s.kv.Txn(ctx, []kv.Compare{kv.Unchanged(deletedKey, nil)}, kv.Put(deletedKey, nil)); err != nil {
			return nil, err
		}
	}
}

// checkTargets names the first target that does not exist.
func (s *Store) checkTargets(ctx context.Context, from intent.Path, targets []intent.Path) error {
	for _, target := range targets {
		item, _, err := s.kv.Get(ctx, docKey(target))
		if err != nil {
			return err
		}
		if item == nil {
			return draft.MissingReference(from, target)
		}
	}
	return nil
}

func refOps(source intent.Path, added, removed []intent.Path) []kv.Op {
	ops := make([]kv.Op, 0, len(added)+len(removed))
	for _, target := range added {
		ops = append(ops, kv.Put(refKey(target, source), nil))
	}
	for _, target := range removed {
		ops = append(ops, kv.Delete(refKey(target, source)))
	}
	return ops
}

// Delete implements intent.Store.
func (s *Store) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	if err := draft.CheckPath(path); err != nil {
		return err
	}
	return insist(ctx, path, func() (bool, error) { return s.tryDelete(ctx, path, condition) })
}

func (s *Store) tryDelete(ctx context.Context, path intent.Path, condition intent.Condition) (bool, error) {
	found, err := s.read(ctx, path)
	if err != nil {
		return false, err
	}
	if found.item == nil {
		return false, intent.ErrNotFound(path)
	}
	if err := condition.Check(path, found.doc.Revision); err != nil {
		return false, err
	}
	if err := intent.CheckSchema(string(path), found.doc.Schema); err != nil {
		return false, err
	}
	when := []kv.Compare{kv.Unchanged(docKey(path), found.item), {Key: refPrefix(path), Prefix: true}}
	then := append([]kv.Op{kv.Delete(docKey(path)), kv.Delete(deletedKey)}, refOps(path, nil, found.doc.Refs)...)
	done, err := s.commit(ctx, found, "", when, then)
	if done || err != nil {
		return done, err
	}
	by, err := s.Referrers(ctx, path)
	if err == nil && len(by) > 0 {
		err = draft.Referenced(path, by)
	}
	return false, err
}

// commit executes the transaction on the document that was read, and answers
// whether its compares held.
func (s *Store) commit(ctx context.Context, found reading, write string, when []kv.Compare, then []kv.Op) (bool, error) {
	done, _, err := s.kv.Txn(ctx, when, then...)
	if intent.CodeOf(err) != intent.Unavailable {
		return done, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return s.settle(ctx, found, write, err, func() (bool, error) {
		done, _, err := s.kv.Txn(ctx, when, then...)
		return done, err
	})
}

// settle finds out what became of a transaction whose answer was lost. If the document
// carries the write's identity, it succeeded. A deletion, whose identity is empty, is done
// once the document is gone, even if another request has removed it. If the document is as it was, the same
// transaction can be tried again: at most one of several finds the document unchanged.
func (s *Store) settle(ctx context.Context, found reading, write string, cause error, again func() (bool, error)) (bool, error) {
	refused := false
	for range settleAttempts {
		now, err := s.read(ctx, found.path)
		switch {
		case err != nil:
			return false, draft.Unknown(found.path, errors.Join(cause, err))
		case now.write == write:
			return true, nil
		case !sameItem(now.item, found.item):
			return false, draft.Unknown(found.path, cause)
		case refused:
			return false, nil
		}
		done, err := again()
		if done {
			return true, nil
		}
		refused = err == nil
	}
	return false, draft.Unknown(found.path, cause)
}

func sameItem(a, b *kv.Item) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ModRevision == b.ModRevision
}
