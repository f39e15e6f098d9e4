package removal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// published is what is published of a record, as far as a loss of a group is judged by it.
func (s *Guard) published(ctx context.Context, b opened, g plan.Group, lost []string, room int) (p guard.Published, relies []kv.Compare, err error) {
	if p.Own, err = s.givenBy(ctx, g.Path, b.record); err != nil {
		return p, nil, err
	}
	p.Others, relies, err = s.givenByOthers(ctx, b.record, g, lost, room)
	p.Count = func() (int, time.Time, error) { return s.count(ctx, b.record, b.account.UID) }
	return p, relies, err
}

// mostCompared is how many compares a commit makes of other groups that still give names, of all records: a transaction takes few. Names
// that more groups give count as if nobody else gave them.
const mostCompared = 32

// givenByOthers are those of a group's names, in order, that other deployed groups give to the same record. They have claimed
// them. With them come compares that they do, as many as there is room for. Without these, two groups could give up a name at once because the other one has it.
func (s *Guard) givenByOthers(ctx context.Context, record intent.Path, g plan.Group, names []string, room int) (others state.NameSet, relies []kv.Compare, err error) {
	holders, err := s.holders(ctx, g, names)
	if err != nil || len(holders) == 0 {
		return nil, nil, err
	}
	var keys []string
	for _, owner := range slices.Sorted(maps.Keys(holders)) {
		keys = append(keys, appcontext.Keys(state.GroupOwner(owner))...)
	}
	items, _, err := s.KV.Range(ctx, kv.Range{Keys: keys}) // before what they point to
	if err != nil {
		return nil, nil, err
	}
	given, err := s.given(ctx, record, holders)
	others = state.NameSet{}
	for _, owner := range slices.Sorted(maps.Keys(given)) {
		its := given[owner]
		maps.DeleteFunc(its, func(name string, _ bool) bool { return !guard.Has(names, name) || others[name] })
		keys := appcontext.Keys(state.GroupOwner(owner))
		if len(its) == 0 || len(relies)+len(keys) > room {
			continue
		}
		maps.Copy(others, its)
		for _, key := range keys {
			unchanged := kv.Unchanged(key, nil)
			if at := slices.IndexFunc(items, func(item kv.Item) bool { return item.Key == key }); at >= 0 {
				unchanged = kv.Unchanged(key, &items[at])
			}
			relies = append(relies, unchanged)
		}
	}
	return others, relies, err
}

// holders are the other groups that have claimed some of a group's names, with their lifecycles.
func (s *Guard) holders(ctx context.Context, g plan.Group, names []string) (map[intent.Path]state.Lifecycle, error) {
	var keys []nameclaim.Key
	for _, request := range ownership.RequestsOf(g) {
		if guard.Has(names, request.Host) {
			keys = append(keys, request.Key)
		}
	}
	claims, err := nameclaim.Store{KV: s.KV}.Read(ctx, keys)
	if err != nil {
		return nil, err
	}
	holders := map[intent.Path]state.Lifecycle{}
	for _, claim := range claims {
		for _, entry := range claim.Entries {
			if _, known := holders[entry.Group]; known || entry.Stays || entry.Group == g.Path {
				continue
			}
			if holders[entry.Group], err = s.StoredLifecycle(ctx, entry.Group); err != nil {
				return nil, err
			}
		}
	}
	return holders, nil
}

// longestCount is how long a count of names may take.
const longestCount = 5 * time.Minute

// counted is how many names a record has, and when they were counted.
type counted struct {
	names int
	at    time.Time
}

// count is how many names a record has, with those that have gone. The cost is that of reading all of them, so all who want it at
// once wait for one count. The count goes on when they give up, and the next one finds it.
func (s *Guard) count(ctx context.Context, record intent.Path, uid string) (names int, at time.Time, err error) {
	of := string(record) + " " + uid
	if kept, is := s.counts.Load(of); is {
		if last, _ := kept.(counted); guard.Counts(last.names, last.at, s.Now()) {
			return last.names, last.at, nil
		}
	}
	done := s.counting.DoChan(of, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestCount)
		defer cancel()
		names, err := s.countAll(ctx, record)
		is := counted{names, s.Now().UTC()}
		if err == nil {
			s.counts.Store(of, is)
		}
		return is, err
	})
	select {
	case result := <-done:
		is, _ := result.Val.(counted)
		return is.names, is.at, result.Err
	case <-ctx.Done():
		return 0, time.Time{}, ctx.Err()
	}
}

func (s *Guard) countAll(ctx context.Context, record intent.Path) (int, error) {
	ctx = snapshot.Now(ctx)
	all := state.NameSet{}
	if err := s.givenByAll(ctx, record, func(_ intent.Path, its state.NameSet) { maps.Copy(all, its) }); err != nil {
		return 0, err
	}
	shares, _, err := s.KV.Range(ctx, kv.Range{Prefix: sharesPrefix(record)})
	for _, item := range shares {
		var share guard.Share
		if err := json.Unmarshal(item.Value, &share); err != nil {
			return 0, fmt.Errorf("%s: %w", item.Key, err)
		}
		for _, name := range share.Gone {
			all[name] = true
		}
	}
	return len(all), err
}
