package appcontext

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// ErrStale is the code of the error that writers get when the owner's pointer,
// or their claim on a context, has changed meanwhile. They read again.
const ErrStale = intent.PreconditionFailed

func stale(what string) error { return &intent.Error{Code: ErrStale, Detail: what} }

// claim marks a context id that is not, or no longer, a current or previous context. The
// context is being written, or, if it is empty, waits for its removal.
type claim struct {
	Attempt string    `json:"attempt,omitempty"`
	Retires Owner     `json:"retires,omitempty"` // whose last context it was, or would have been (Retire); none: nobody's
	Since   time.Time `json:"since,omitzero"`
}

// parallel is how many chunks of a context are under way at a time. The server
// flushes together what arrives together.
const parallel = 4

const claimPrefix = "/signpost/claim/"

func claimKey(id string) string { return claimPrefix + id }

// Commit writes the context and makes it the owner's current one, in place of
// was, and answers the new pointer. The context must have been committed to no
// one before; to repeat a commit that is current already changes nothing. A
// context without an ID takes everything away from the owner. The context
// before the last is left to Sweep. The error has the code ErrStale when was is
// no longer the owner's pointer, or what more compares does not hold.
func (s *Store) Commit(ctx context.Context, was Pointer, c Context, more ...kv.Compare) (Pointer, error) {
	if was.Seq > 0 && was.ContextID == c.ID {
		return was, nil
	}
	if err := cmp.Or(was.changeable(), distinct(c.Objects)); err != nil {
		return Pointer{}, err // before anything is claimed
	}
	next := Pointer{
		Owner: was.Owner, ContextID: c.ID, Seq: was.Seq + 1, Since: s.now().UTC(), Previous: was.ContextID, touched: was.touched,
		Clusters: clustersOf(c.Objects), Services: c.Services, Placements: c.Placements, Verify: c.Verify, Trace: tracing.Parent(ctx),
	}
	if c.ID == "" {
		next.Withdrawn = was.Clusters
	}
	when := slices.Clone(more)
	then := moving(putJSON(pointerKey(was.Owner), next))
	if c.ID != "" {
		if revision, done, err := s.commitPlain(ctx, was, next, c, when); done || err != nil {
			return next.at(revision), err
		}
		mine, err := s.claim(ctx, was, c.ID)
		if err != nil {
			return Pointer{}, err
		}
		if err := s.write(ctx, mine, layOut(c)); err != nil {
			return Pointer{}, err
		}
		when = append(when, mine)
		then = append(then, kv.Delete(claimKey(c.ID)))
	}
	if was.Previous != "" {
		then = append(then, putJSON(claimKey(was.Previous), claim{}))
	}
	revision, err := s.swap(ctx, was, when, then...)
	if err != nil {
		return Pointer{}, err
	}
	return next.at(revision), nil
}

// commitPlain writes a plain context and the pointer in one transaction, which needs no
// claim. It is not done if the context is too large or not plain, or if an earlier attempt has
// claimed it. Nor is it done if a comparison does not hold.
func (s *Store) commitPlain(ctx context.Context, was, next Pointer, c Context, when []kv.Compare) (revision int64, done bool, err error) {
	if !c.Plain {
		return 0, false, nil
	}
	all := moving(putJSON(pointerKey(was.Owner), next))
	if was.Previous != "" {
		all = append(all, putJSON(claimKey(was.Previous), claim{}))
	}
	all = slices.AppendSeq(all, layOut(c))
	batches := slices.Collect(kv.Batches(slices.Values(all)))
	when = slices.Concat(when, was.unchanged(), []kv.Compare{{Key: claimKey(c.ID)}})
	if len(batches) > 1 || len(when) > kv.MaxOps {
		return 0, false, nil
	}
	done, revision, err = s.kv.Txn(ctx, when, all...)
	return revision, done, err
}

// swap executes operations while the comparisons hold, the pointer's among them.
func (s *Store) swap(ctx context.Context, was Pointer, when []kv.Compare, then ...kv.Op) (revision int64, err error) {
	done, revision, err := s.kv.Txn(ctx, slices.Concat(when, was.unchanged()), then...)
	if err == nil && !done {
		err = stale("the current context of " + string(was.Owner) + " has changed")
	}
	return revision, err
}

// Write lays out a context that no owner points to, and puts more beside it, in
// chunks that each compare when. The error has the code ErrStale when that does
// not hold any more.
func (s *Store) Write(ctx context.Context, when kv.Compare, c Context, more ...kv.Op) error {
	if err := distinct(c.Objects); err != nil {
		return err
	}
	return s.write(ctx, when, layOut(c, more...))
}

func (s *Store) write(ctx context.Context, when kv.Compare, all iter.Seq[kv.Op]) error {
	writers, writing := errgroup.WithContext(ctx)
	writers.SetLimit(parallel)
	for ops := range kv.Batches(all) {
		writers.Go(func() error { return s.put(writing, when, ops) })
	}
	return writers.Wait()
}

// put writes a chunk while when holds.
func (s *Store) put(ctx context.Context, when kv.Compare, ops []kv.Op) error {
	done, _, err := s.kv.Txn(ctx, []kv.Compare{when}, ops...)
	if err == nil && !done {
		return stale("another writer is at it: " + when.Key + " has changed")
	}
	return err
}

// claim takes the context's id over, which hardly ever has a claim. It compares the
// pointer, because the id may have become current meanwhile.
func (s *Store) claim(ctx context.Context, was Pointer, id string) (kv.Compare, error) {
	mine, done, err := s.replaceClaim(ctx, was, id, nil)
	if done || err != nil {
		return mine, err
	}
	before, _, err := s.kv.Get(ctx, claimKey(id))
	if err != nil {
		return kv.Compare{}, err
	}
	if before != nil {
		mine, done, err = s.replaceClaim(ctx, was, id, before)
	}
	if err != nil {
		return kv.Compare{}, err
	}
	if !done {
		return kv.Compare{}, stale("another writer has committed or claimed context " + id)
	}
	_, _, err = s.kv.Txn(ctx, []kv.Compare{mine}, kv.DeletePrefix(contextKey(id))) // what an earlier attempt left
	return mine, err
}

// replaceClaim claims an id, unless its claim is another than before or the pointer has changed.
func (s *Store) replaceClaim(ctx context.Context, was Pointer, id string, before *kv.Item) (mine kv.Compare, done bool, err error) {
	key := claimKey(id)
	mark := putJSON(key, claim{Attempt: NewID(), Since: s.now()})
	done, revision, err := s.kv.Txn(ctx, append(was.unchanged(), kv.Unchanged(key, before)), mark)
	return kv.Compare{Key: key, ModRevision: revision}, done, err
}

func clustersOf(objects bundle.Bundle) map[string][]string {
	clusters := map[string][]string{}
	for _, o := range objects {
		if !slices.Contains(clusters[o.Cluster], o.App) {
			clusters[o.Cluster] = append(clusters[o.Cluster], o.App)
		}
	}
	for _, apps := range clusters {
		slices.Sort(apps)
	}
	return clusters
}

// Named answers the ids of the contexts that a key of the store names, and which belong
// to it. It answers none for a key that is neither a pointer nor a claim. The error is
// that of a pointer that cannot be read.
func Named(item kv.Item) ([]string, error) {
	if id, is := strings.CutPrefix(item.Key, claimPrefix); is {
		return []string{id}, nil
	}
	if _, touch := touchedOwner(item.Key); touch || !strings.HasPrefix(item.Key, pointerPrefix) {
		return nil, nil
	}
	var p Pointer
	if err := json.Unmarshal(item.Value, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", item.Key, err)
	}
	return slices.DeleteFunc([]string{p.ContextID, p.Previous}, func(id string) bool { return id == "" }), nil
}
