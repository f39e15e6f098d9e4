package tenancy

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TakenPrefix is where it is counted what each project has of its quotas. A count is never
// less than the project has. An acceptance adds what it takes before it is stored, and
// nobody subtracts without having read all lifecycles. So a count within the quotas
// decides, and one above them does not. If an acceptance is under way while lifecycles are
// read, the count may miss it until the next sweep.
const TakenPrefix = "/signpost/taken/"

func takenKey(project intent.Path) string { return TakenPrefix + project.Name() }

// readCount reads the count of a project.
func (s *Keeper) readCount(ctx context.Context, project intent.Path) (resolve.Count, error) {
	item, _, err := s.KV.Get(ctx, takenKey(project))
	return countOf(item), err
}

// countOf reads a count. A damaged count is none.
func countOf(item *kv.Item) (c resolve.Count) {
	if item != nil && json.Unmarshal(item.Value, &c.Has) == nil {
		c.Item = item
	}
	return c
}

// SaveRelease writes the release of a proposal, and counts what it takes of its project's
// quotas beyond the release before, in one transaction. A project without quotas is not
// counted any more: what it has does not matter until it has one.
func (s *Keeper) SaveRelease(ctx context.Context, p *resolve.Proposal, contextID string, packed []byte) error {
	key := takenKey(intent.Join("projects", p.Draft.Group.Project.Name))
	if p.Unbounded {
		_, err := state.SaveReleaseIf(ctx, s.Store, contextID, packed, nil, kv.Delete(key))
		return err
	}
	group := p.Draft.Group
	is := resolve.Taken{Names: CountNames(group), Objects: CountObjects(group), Uses: p.Draft.Uses}
	more := is.Beyond(takenBy(group.Path, p.Lifecycle))
	if more.Nothing() || state.IsCloud(group.Path) {
		return s.Store.SaveRelease(ctx, contextID, packed)
	}
	count := s.newest(key, p.Count)
	for {
		if count.Item == nil && !count.Exact { // it was not judged, or others have written it since
			item, _, err := s.KV.Get(ctx, key)
			if err != nil {
				return err
			}
			if count = countOf(item); count.Item == nil {
				return s.Store.SaveRelease(ctx, contextID, packed) // who judges next counts
			}
		}
		raw, err := json.Marshal(count.Has.With(more))
		if err != nil {
			return err
		}
		revision, err := state.SaveReleaseIf(ctx, s.Store, contextID, packed, []kv.Compare{kv.Unchanged(key, count.Item)}, kv.Put(key, raw))
		if err != nil {
			return err
		}
		if revision != 0 {
			s.written.Keep(key, kv.Item{Key: key, Value: raw, ModRevision: revision}, mostCounts)
			return nil
		}
		count = resolve.Count{}
	}
}

// mostCounts is of how many projects it is remembered what was written.
const mostCounts = 256

// newest is the count that was written here after one was read, if there is one. Requests that are judged at
// the same time read the same count, and all but one of them would find it changed.
func (s *Keeper) newest(key string, read resolve.Count) resolve.Count {
	item, known := s.written.Get(key)
	if !known || read.Item == nil || item.ModRevision <= read.Item.ModRevision {
		return read
	}
	return countOf(&item)
}

// Recount is what all projects have, counted anew from all lifecycles.
type Recount struct {
	kv       kv.KV
	counts   []kv.Item // as they were before the lifecycles were read
	projects map[string]resolve.Taken
}

// NewRecount begins to count, before the first lifecycle is read.
func NewRecount(ctx context.Context, store kv.KV) (*Recount, error) {
	counts, _, err := store.Range(ctx, kv.Range{Prefix: TakenPrefix})
	return &Recount{store, counts, map[string]resolve.Taken{}}, err
}

// Add counts what one owner has.
func (r *Recount) Add(owner intent.Path, l state.Lifecycle) {
	project := owner.Segment("projects")
	r.projects[project] = r.projects[project].With(takenBy(owner, l))
}

// Save corrects the counts that nobody has changed meanwhile. It removes the counts of
// projects without anything.
func (r *Recount) Save(ctx context.Context) error {
	for _, was := range r.counts {
		has := r.projects[strings.TrimPrefix(was.Key, TakenPrefix)]
		raw, err := json.Marshal(has)
		if err != nil {
			return err
		}
		then := kv.Put(was.Key, raw)
		switch {
		case has.Nothing():
			then = kv.Delete(was.Key)
		case bytes.Equal(raw, was.Value):
			continue
		}
		if _, _, err := r.kv.Txn(ctx, []kv.Compare{kv.Unchanged(was.Key, &was)}, then); err != nil {
			return err
		}
	}
	return nil
}
