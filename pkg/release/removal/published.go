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
)

// published is what is published of a record, as far as a loss of a group is judged by it.
func (s *Guard) published(ctx context.Context, record intent.Path, g plan.Group, lost []string) (p guard.Published, relies []kv.Compare, err error) {
	if p.Own, err = s.givenBy(ctx, g.Path, record); err != nil {
		return p, nil, err
	}
	p.Others, relies, err = s.givenByOthers(ctx, record, g, lost)
	p.Count = func() (int, time.Time, error) { return s.count(ctx, record) }
	return p, relies, err
}

// mostRelied is of how many other groups a commit compares that they still give names: a transaction takes few compares. Names
// that more of them give count as if nobody else gave them.
const mostRelied = 16

// givenByOthers are those of a group's names, in order, that other deployed groups give to the same record, and compares that they do. They have claimed
// them. Without the compares, two groups could give up a name at once because the other one has it.
func (s *Guard) givenByOthers(ctx context.Context, record intent.Path, g plan.Group, names []string) (others state.NameSet, relies []kv.Compare, err error) {
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
		maps.DeleteFunc(its, func(name string, _ bool) bool { return !has(names, name) || others[name] })
		if len(its) == 0 || len(relies) >= 2*mostRelied {
			continue
		}
		maps.Copy(others, its)
		for _, key := range appcontext.Keys(state.GroupOwner(owner)) {
			unchanged := kv.Unchanged(key, nil)
			if at := slices.IndexFunc(items, func(item kv.Item) bool { return item.Key == key }); at >= 0 {
				unchanged = kv.Unchanged(key, &items[at])
			}
			relies = append(relies, unchanged)
		}
	}
	return others, relies, err
}

func has(ordered []string, name string) bool {
	_, found := slices.BinarySearch(ordered, name)
	return found
}

// holders are the other groups that have claimed some of a group's names, with their lifecycles.
func (s *Guard) holders(ctx context.Context, g plan.Group, names []string) (map[intent.Path]state.Lifecycle, error) {
	var keys []nameclaim.Key
	for _, request := range ownership.RequestsOf(g) {
		if has(names, request.Host) {
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
// once wait for one count. It goes on when they give up, and the next one finds it.
func (s *Guard) count(ctx context.Context, record intent.Path) (names int, at time.Time, err error) {
	if kept, is := s.counts.Load(record); is {
		if last, _ := kept.(counted); guard.Counts(last.names, last.at, s.Now()) {
			return last.names, last.at, nil
		}
	}
	done := s.counting.DoChan(string(record), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestCount)
		defer cancel()
		names, err := s.countAll(ctx, record)
		is := counted{names, s.Now().UTC()}
		if err == nil {
			s.counts.Store(record, is)
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
