package emco

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// journal is for a patch that exceeds a transaction. First, all that its keys are and are to
// be is written, beside what others prepare. Then one transaction decides the patch by its
// journal (forward). It compares that the context is as it was read, and that no other patch
// is under way. The writes follow, in transactions that each compare that nobody else has
// written since the one before. If somebody has, they are taken back (back). A reader that
// comes upon a journal goes on with it. So one of all who patch a context at once is never
// hindered by the others.
//
//	/signpost/emco/<id>/patch                         the journal
//	/signpost/emco/<id>/patch/<attempt>/              since when it is prepared
//	/signpost/emco/<id>/patch/<attempt>/<n>/after     the n-th key, a newline, what it is to be
//	/signpost/emco/<id>/patch/<attempt>/<n>/before    the n-th key, a newline, what it was; nothing where it was not there
type journal struct {
	Phase   phase  `json:"phase"`
	Attempt string `json:"attempt"`        // whose writes they are
	Writes  int    `json:"writes"`         // how many there are
	Done    int    `json:"done"`           // how many of them are done, the first ones
	Meta    int64  `json:"meta,omitempty"` // revision of the meta that was read
}

type phase string

const (
	forward phase = "forward"
	back    phase = "back"
)

const journalPrefix = "/signpost/emco/"

func journalKey(id string) string { return journalPrefix + id + "/patch" }

// attemptKey is of when an attempt began, and the prefix of its images.
func attemptKey(id, attempt string) string { return journalKey(id) + "/" + attempt + "/" }

func imageKey(id, attempt string, n int) string {
	return fmt.Sprintf("%s%08d", attemptKey(id, attempt), n)
}

func journalOf(item *kv.Item) (journal, error) {
	var j journal
	if err := json.Unmarshal(item.Value, &j); err != nil {
		return j, fmt.Errorf("%s: %w", item.Key, err)
	}
	return j, nil
}

func (j journal) put(id string) kv.Op {
	raw, err := json.Marshal(j)
	if err != nil {
		panic(fmt.Sprintf("a journal always marshals: %v", err))
	}
	return kv.Put(journalKey(id), raw)
}

// closed removes a journal, and what was written for it.
func (j journal) closed(id string) []kv.Op {
	return []kv.Op{kv.Delete(journalKey(id)), kv.DeletePrefix(attemptKey(id, j.Attempt))}
}

// byJournal does the writes by a journal, and answers how it ended. If another hand ended
// it, nobody knows how, and that is neither forward nor back.
func (s *Store) byJournal(ctx context.Context, c *Context, all []write) (phase, error) {
	j := journal{Phase: forward, Attempt: strings.ToLower(rand.Text()), Writes: len(all), Meta: c.meta.ModRevision}
	staged, err := s.stage(ctx, c.ID, j.Attempt, all)
	if err != nil {
		return "", err
	}
	begin := j.put(c.ID)
	decided, revision, err := s.kv.Txn(ctx, append(c.unchanged(all), kv.Unchanged(staged.Key, staged)), begin)
	if err != nil {
		return "", err
	}
	if !decided {
		_, _, err = s.kv.Txn(ctx, nil, kv.DeletePrefix(staged.Key))
		return back, err
	}
	return s.walk(ctx, c.ID, &kv.Item{Key: begin.Key, Value: begin.Value, ModRevision: revision})
}

// stage writes down what is to be done, and what was. It answers when that began.
func (s *Store) stage(ctx context.Context, id, attempt string, all []write) (*kv.Item, error) {
	since := kv.Put(attemptKey(id, attempt), []byte(s.now().UTC().Format(time.RFC3339)))
	_, revision, err := s.kv.Txn(ctx, nil, since)
	if err != nil {
		return nil, err
	}
	item := &kv.Item{Key: since.Key, Value: since.Value, ModRevision: revision}
	var ops []kv.Op
	for n, w := range all {
		image := imageKey(id, attempt, n)
		ops = append(ops, kv.Put(image+"/after", w.image(w.after)), kv.Put(image+"/before", w.image(w.before)))
	}
	for len(ops) > 0 {
		n := fitting(ops)
		kept, _, err := s.kv.Txn(ctx, []kv.Compare{kv.Unchanged(item.Key, item)}, ops[:n]...)
		if err != nil {
			return nil, err
		}
		if !kept { // it was given up by Settle
			return nil, changedMeanwhile(id)
		}
		ops = ops[n:]
	}
	return item, nil
}

// fitting is how many of the operations fit into a transaction, one at least.
func fitting(ops []kv.Op) int {
	size := 0
	for n, op := range ops {
		size += len(op.Key) + len(op.Value)
		if n > 0 && size > kv.MaxBytes || n == maxPut {
			return n
		}
	}
	return len(ops)
}

// maxPut is how many writes go into one transaction.
const maxPut = 2000

func (w write) image(value []byte) []byte { return slices.Concat([]byte(w.key), []byte{'\n'}, value) }

// images reads the writes of an attempt from one on, at most so many.
func (s *Store) images(ctx context.Context, id, attempt string, from, most int) ([]write, error) {
	const perWrite = 2
	items, _, err := s.kv.Range(ctx, kv.Range{Prefix: attemptKey(id, attempt), After: imageKey(id, attempt, from), Limit: int64(perWrite * most)})
	if err != nil {
		return nil, err
	}
	all := make([]write, 0, most)
	for pair := range slices.Chunk(items, perWrite) {
		key, after, _ := bytes.Cut(pair[0].Value, []byte{'\n'})
		w := write{key: string(key), after: after}
		if _, before, _ := bytes.Cut(pair[len(pair)-1].Value, []byte{'\n'}); len(before) > 0 {
			w.before = before
		}
		all = append(all, w)
	}
	return all, nil
}

// walk goes on with a journal until it has ended, and answers how. If another hand has
// ended it, that is neither forward nor back.
func (s *Store) walk(ctx context.Context, id string, item *kv.Item) (phase, error) {
	begun, err := journalOf(item)
	if err != nil {
		return "", err
	}
	for j := begun; j.Attempt == begun.Attempt; {
		step := s.goForward
		if j.Phase == back {
			step = s.goBack
		}
		done, err := step(ctx, id, j, item)
		if err != nil {
			return "", err
		}
		if done {
			return j.Phase, nil
		}
		if item, _, err = s.kv.Get(ctx, journalKey(id)); err != nil || item == nil {
			return "", err
		}
		if j, err = journalOf(item); err != nil {
			return "", err
		}
	}
	return "", nil
}

// goForward does the next writes of a journal, and answers whether these were the last.
// If somebody else has changed the context since the last ones, the journal turns back.
func (s *Store) goForward(ctx context.Context, id string, j journal, item *kv.Item) (bool, error) {
	mine := kv.Unchanged(item.Key, item)
	next, err := s.images(ctx, id, j.Attempt, j.Done, maxPut/2)
	if err != nil || len(next) == 0 {
		return false, cmp.Or(err, s.ended(ctx, item))
	}
	var ops []kv.Op
	for _, w := range next {
		ops = append(ops, kv.Put(w.key, w.after))
	}
	n := fitting(ops)
	when := []kv.Compare{mine, kv.Exists(contextKey(id)), kv.NotAfter(appsKey(id), item.ModRevision)}
	if slices.ContainsFunc(next[:n], func(w write) bool { return w.key == metaKey(id) }) {
		when = append(when, kv.Compare{Key: metaKey(id), ModRevision: j.Meta})
	}
	when = append(when, remain(id, next[:n], maxCompares-len(when))...)
	j.Done += n
	last := j.Done >= j.Writes
	mark := []kv.Op{j.put(id)}
	if last {
		mark = j.closed(id)
	}
	done, _, err := s.kv.Txn(ctx, when, slices.Concat(ops[:n], mark)...)
	if err != nil || done {
		return last && done, err
	}
	j.Done -= n
	j.Phase = back
	_, _, err = s.kv.Txn(ctx, []kv.Compare{mine}, j.put(id))
	return false, err
}

// ended fails while a journal is as it was read: it lacks some of its writes
// then, and else because another hand has ended it.
func (s *Store) ended(ctx context.Context, item *kv.Item) error {
	now, _, err := s.kv.Get(ctx, item.Key)
	if err == nil && now != nil && now.ModRevision == item.ModRevision {
		err = fmt.Errorf("the journal %s cannot go on: it lacks some of its writes", item.Key)
	}
	return err
}

// maxBack is how many writes are taken back at a time: each is compared.
const maxBack = maxCompares - 4

// goBack takes the last writes of a journal back, and answers whether it has ended. Keys
// that somebody else has written or deleted since stay so.
func (s *Store) goBack(ctx context.Context, id string, j journal, item *kv.Item) (bool, error) {
	when := []kv.Compare{kv.Unchanged(item.Key, item)}
	if j.Done == 0 {
		done, _, err := s.kv.Txn(ctx, when, j.closed(id)...)
		return done, err
	}
	from := max(0, j.Done-maxBack)
	writes, err := s.images(ctx, id, j.Attempt, from, j.Done-from)
	if err != nil || len(writes) < j.Done-from {
		return false, cmp.Or(err, s.ended(ctx, item))
	}
	size := 0
	var ops []kv.Op
	for _, w := range slices.Backward(writes) {
		size += len(w.key) + len(w.before)
		if len(ops) > 0 && size > kv.MaxBytes {
			break
		}
		j.Done--
		now, _, err := s.kv.Get(ctx, w.key)
		if err != nil {
			return false, err
		}
		if now == nil || !bytes.Equal(now.Value, w.after) {
			continue
		}
		when = append(when, kv.Unchanged(w.key, now))
		ops = append(ops, w.undo())
	}
	_, _, err = s.kv.Txn(ctx, when, append(ops, j.put(id))...)
	return false, err
}

func (w write) undo() kv.Op {
	if w.before == nil {
		return kv.Delete(w.key)
	}
	return kv.Put(w.key, w.before)
}

// Settle brings the patches that a dead process left in the middle to their end. It
// removes those that were prepared and never decided, once they are older than age. It is
// safe at any time.
func (s *Store) Settle(ctx context.Context, age time.Duration) error {
	items, _, err := s.kv.Range(ctx, kv.Range{Prefix: journalPrefix, KeysOnly: true})
	if err != nil {
		return err
	}
	for _, found := range items {
		id, of, ok := strings.Cut(strings.TrimPrefix(found.Key, journalPrefix), "/patch")
		attempt, isAttempt := strings.CutSuffix(strings.TrimPrefix(of, "/"), "/")
		switch {
		case !ok || strings.Contains(id, "/") || strings.Contains(attempt, "/"):
		case of == "":
			err = errors.Join(err, s.settle(ctx, id))
		case isAttempt:
			err = errors.Join(err, s.giveUp(ctx, id, attempt, age))
		}
	}
	return err
}

// settle brings a journal to its end.
func (s *Store) settle(ctx context.Context, id string) error {
	item, _, err := s.kv.Get(ctx, journalKey(id))
	if err != nil || item == nil {
		return err
	}
	_, err = s.walk(ctx, id, item)
	return err
}

// giveUp removes what is prepared for a patch since longer than age. Nothing is removed while
// a patch of the context is under way, which may be this one.
func (s *Store) giveUp(ctx context.Context, id, attempt string, age time.Duration) error {
	staged, _, err := s.kv.Get(ctx, attemptKey(id, attempt))
	if err != nil || staged == nil {
		return err
	}
	since, err := time.Parse(time.RFC3339, string(staged.Value))
	if err != nil {
		return fmt.Errorf("%s: %w", staged.Key, err)
	}
	if s.now().Sub(since) < age {
		return nil
	}
	_, _, err = s.kv.Txn(ctx, []kv.Compare{kv.Unchanged(journalKey(id), nil)}, kv.DeletePrefix(staged.Key))
	return err
}
