package appcontext

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
)

// ErrStale is the code of the error that writers get when the owner's pointer,
// or their claim on a context, has changed meanwhile. They read again.
const ErrStale = intent.PreconditionFailed

func stale(what string) error { return &intent.Error{Code: ErrStale, Detail: what} }

// claim marks a context id that is not, or no longer, anybody's current or
// previous context: it is being written, or waits for its removal.
type claim struct {
	Attempt string    `json:"attempt"`
	Since   time.Time `json:"since"`
}

const claimPrefix = "/signpost/claim/"

func claimKey(id string) string { return claimPrefix + id }

// Commit writes the context and makes it the owner's current one, in place of
// was, and answers the new pointer. The context must have been committed to no
// one before; to repeat a commit that is current already changes nothing. A
// context without an ID takes everything away from the owner. The error has
// the code ErrStale when was is no longer the owner's pointer.
func (s *Store) Commit(ctx context.Context, was Pointer, c Context) (Pointer, error) {
	if was.Seq > 0 && was.ContextID == c.ID {
		return was, nil
	}
	next := Pointer{
		Owner: was.Owner, ContextID: c.ID, Seq: was.Seq + 1, Previous: was.ContextID, Touched: was.Touched,
		Clusters: clustersOf(c.Objects), Services: c.Services,
	}
	if c.ID == "" {
		next.Withdrawn = was.Clusters
	}
	when := []kv.Compare{kv.Unchanged(pointerKey(was.Owner), was.item)}
	then := []kv.Op{putJSON(pointerKey(was.Owner), next)}
	if c.ID != "" {
		mine, err := s.write(ctx, c)
		if err != nil {
			return Pointer{}, err
		}
		when = append(when, mine)
		then = append(then, kv.Delete(claimKey(c.ID)))
	}
	if was.Previous != "" {
		then = append(then, putJSON(claimKey(was.Previous), claim{Since: s.now()}))
	}
	done, _, err := s.kv.Txn(ctx, when, then...)
	if err != nil {
		return Pointer{}, err
	}
	if !done {
		return Pointer{}, stale("the current context of " + string(was.Owner) + " has changed")
	}
	if was.Previous != "" {
		// What fails here is collected by the next Sweep.
		_ = s.remove(ctx, was.Previous)
	}
	return s.Current(ctx, was.Owner)
}

// write claims the context's id and lays the context out, in chunks that each
// compare the claim. It answers the comparison that holds while the claim is
// ours.
func (s *Store) write(ctx context.Context, c Context) (kv.Compare, error) {
	mine, err := s.claim(ctx, c.ID)
	if err != nil {
		return mine, err
	}
	ops, err := operations(c)
	if err != nil {
		return mine, err
	}
	for len(ops) > 0 {
		n := chunk(ops)
		done, _, err := s.kv.Txn(ctx, []kv.Compare{mine}, ops[:n]...)
		if err != nil {
			return mine, err
		}
		if !done {
			return mine, stale("another writer has claimed context " + c.ID)
		}
		ops = ops[n:]
	}
	return mine, nil
}

// claim takes the context's id over and removes what an earlier attempt left.
func (s *Store) claim(ctx context.Context, id string) (kv.Compare, error) {
	key := claimKey(id)
	before, _, err := s.kv.Get(ctx, key)
	if err != nil {
		return kv.Compare{}, err
	}
	mark := putJSON(key, claim{Attempt: NewID(), Since: s.now()})
	done, revision, err := s.kv.Txn(ctx, []kv.Compare{kv.Unchanged(key, before)}, mark)
	if err != nil {
		return kv.Compare{}, err
	}
	if !done {
		return kv.Compare{}, stale("another writer has claimed context " + id)
	}
	mine := kv.Compare{Key: key, ModRevision: revision}
	if before == nil {
		return mine, nil
	}
	if _, _, err := s.kv.Txn(ctx, []kv.Compare{mine}, kv.DeletePrefix(contextKey(id))); err != nil {
		return kv.Compare{}, err
	}
	return mine, nil
}

// chunk is how many of the operations fit one transaction.
func chunk(ops []kv.Op) int {
	size := 0
	for i, op := range ops {
		size += len(op.Key) + len(op.Value)
		if i == kv.MaxOps || i > 0 && size > kv.MaxBytes {
			return i
		}
	}
	return len(ops)
}

func clustersOf(objects bundle.Bundle) map[string][]string {
	clusters := map[string][]string{}
	apps := groupByApp(objects)
	for _, app := range appNames(apps) {
		for cluster := range apps[app] {
			clusters[cluster] = append(clusters[cluster], app)
		}
	}
	return clusters
}

// Sweep removes contexts that nobody points to: those that crashed writers
// left, once they are older than age, and those that are no longer kept.
func (s *Store) Sweep(ctx context.Context, age time.Duration) error {
	items, _, err := s.kv.Range(ctx, kv.Range{Prefix: claimPrefix})
	if err != nil {
		return err
	}
	for _, item := range items {
		var c claim
		if err := json.Unmarshal(item.Value, &c); err != nil || s.now().Sub(c.Since) < age {
			continue
		}
		if err := s.remove(ctx, item.Key[len(claimPrefix):]); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a claimed context and its claim, unless the claim changes.
func (s *Store) remove(ctx context.Context, id string) error {
	item, _, err := s.kv.Get(ctx, claimKey(id))
	if err != nil || item == nil {
		return err
	}
	_, _, err = s.kv.Txn(ctx, []kv.Compare{kv.Unchanged(claimKey(id), item)},
		kv.DeletePrefix(contextKey(id)), kv.Delete(claimKey(id)))
	return err
}
