package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// lease is how long a worker that has stopped may still take itself for the owner of a
// cluster.
const lease = 15 * time.Second

// releaseAtMost is how long giving the fence back may take.
const releaseAtMost = 2 * time.Second

// errTaken is why a publisher stops writing.
var errTaken = errors.New("another publisher of the provider has taken over")

// note is what the fence's key holds.
type note struct {
	Session string `json:"session"`
	Closed  bool   `json:"closed,omitempty"` // its writes have all ended
}

// fence is the right to write. DNS servers know no fence, so a publisher writes the key
// before it writes names, and has them written within a request's deadline.
type fence struct {
	target   *Target
	session  string
	revision int64     // that wrote the key
	from     time.Time // when it may write
	again    bool      // the zone is to be read twice
}

func (t *Target) fenceKey() string { return Prefix + t.name + "/writer" }

// takeFence takes the fence. If an earlier publisher has not given it back, that one may
// still write for as long as a lease and a request last.
func takeFence(ctx context.Context, t *Target, session string) (*fence, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	item, _, err := t.KV.Get(ctx, t.fenceKey())
	if err != nil {
		return nil, err
	}
	f := &fence{target: t, session: session, from: t.Now()}
	var before note
	if item != nil {
		if err := json.Unmarshal(item.Value, &before); err != nil {
			return nil, errors.New("key " + t.fenceKey() + " cannot be read")
		}
	}
	if item != nil && !before.Closed && before.Session != session {
		f.from, f.again = t.Now().Add(lease+cluster.RequestDeadline), true
	}
	now, err := json.Marshal(note{Session: f.session})
	if err != nil {
		return nil, err
	}
	done, revision, err := t.KV.Txn(ctx, []kv.Compare{kv.Unchanged(t.fenceKey(), item)}, kv.Put(t.fenceKey(), now))
	switch {
	case err != nil:
		return nil, err
	case !done:
		return nil, errTaken
	}
	f.revision = revision
	return f, nil
}

// nameKey is where a name is recorded that the publisher writes.
func (t *Target) nameKey(name string) string { return Prefix + t.name + "/name/" + name }

// records reads the names that were recorded, with the sets that they were first to have.
func (f *fence) records(ctx context.Context) (map[string][]publisher.Set, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	prefix := f.target.nameKey("")
	items, _, err := f.target.KV.Range(ctx, kv.Range{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	out := map[string][]publisher.Set{}
	for _, item := range items {
		var sets []publisher.Set
		if err := json.Unmarshal(item.Value, &sets); err != nil {
			return nil, errors.New("key " + item.Key + " cannot be read")
		}
		out[strings.TrimPrefix(item.Key, prefix)] = sets
	}
	return out, nil
}

// record records names before they are written for the first time. With or without names,
// it fails with errTaken if the fence is another's.
func (f *fence) record(ctx context.Context, names map[string][]publisher.Set) error {
	var ops []kv.Op
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value, err := json.Marshal(names[name])
		if err != nil {
			return err
		}
		ops = append(ops, kv.Put(f.target.nameKey(name), value))
	}
	return f.put(ctx, note{Session: f.session}, ops...)
}

// forget removes the records of names that are gone.
func (f *fence) forget(ctx context.Context, names []string) error {
	var ops []kv.Op
	for _, name := range names {
		ops = append(ops, kv.Delete(f.target.nameKey(name)))
	}
	return f.put(ctx, note{Session: f.session}, ops...)
}

func (f *fence) put(ctx context.Context, next note, ops ...kv.Op) error {
	value, err := json.Marshal(next)
	if err != nil {
		return err
	}
	key := f.target.fenceKey()
	ops = append(ops, kv.Put(key, value))
	for range 2 {
		done, revision, err := f.target.KV.Txn(ctx, []kv.Compare{{Key: key, ModRevision: f.revision}}, ops...)
		if err != nil {
			return err
		}
		if done {
			f.revision = revision
			return nil
		}
		if err := f.find(ctx); err != nil {
			return err
		}
	}
	return errTaken
}

// find looks for the fence's own last write, of which no answer may have come; errTaken if
// another publisher has written since.
func (f *fence) find(ctx context.Context) error {
	item, _, err := f.target.KV.Get(ctx, f.target.fenceKey())
	if err != nil {
		return err
	}
	var last note
	if item == nil || json.Unmarshal(item.Value, &last) != nil || last.Session != f.session {
		return errTaken
	}
	f.revision = item.ModRevision
	return nil
}

// release gives the fence back once all writes have ended.
func (f *fence) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseAtMost)
	defer cancel()
	_ = f.put(ctx, note{Session: f.session, Closed: true}) // else the next publisher waits
}
