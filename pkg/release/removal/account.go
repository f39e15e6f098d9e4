package removal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
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

// accountsPrefix is where the accounts of records are. Shares and permits of groups, which may be very many, are not below it.
const accountsPrefix = "/signpost/removals/"

func accountKey(record intent.Path) string { return accountsPrefix + string(record) }

func sharesPrefix(record intent.Path) string { return "/signpost/removed/" + string(record) + "//" }

func permitsPrefix(record intent.Path) string { return "/signpost/permits/" + string(record) + "//" }

// books are a record's account, and what one group has to do with it.
type books struct {
	account guard.Account
	share   guard.Share
	permits []guard.Permit
}

// opened are books as they were read.
type opened struct {
	books

	record intent.Path
	keys   [3]string     // of the account, the share, and the permits
	when   [3]kv.Compare // they are as they were read
	begins bool          // the account is to begin anew, and has not yet
}

// open reads the books of a group. The account of a record that was deleted meanwhile counts for nothing; an empty uid is of any.
// Permits of it are of releases that are over.
func (s *Guard) open(ctx context.Context, record intent.Path, uid string, group intent.Path, now time.Time) (opened, error) {
	b := opened{record: record, keys: [3]string{accountKey(record), sharesPrefix(record) + string(group), permitsPrefix(record) + string(group)}}
	items, _, err := s.KV.Range(ctx, kv.Range{Keys: b.keys[:]})
	if err != nil {
		return b, err
	}
	for n, into := range []any{&b.account, &b.share, &b.permits} {
		b.when[n] = kv.Unchanged(b.keys[n], nil)
		for _, item := range items {
			if item.Key != b.keys[n] {
				continue
			}
			b.when[n] = kv.Unchanged(item.Key, &item)
			if err := json.Unmarshal(item.Value, into); err != nil {
				return b, fmt.Errorf("%s: %w", item.Key, err)
			}
		}
	}
	uid = cmp.Or(uid, b.account.UID)
	if b.account.Ends(uid, now) {
		b.begins = b.account != (guard.Account{})
		b.account, b.share = guard.Account{UID: uid}, guard.Share{}
	}
	return b, nil
}

// judge answers the books after a loss, and the names that are to stay. Names that the group is asked to give up do not count as
// its own. It writes nothing.
func (s *Guard) judge(ctx context.Context, b opened, g plan.Group, l guard.Loss, givenUp state.NameSet) (next books, held []string, err error) {
	lost, permits := guard.Spend(l, b.permits)
	next = books{permits: permits}
	next.account, next.share, held, err = b.account.Judge(b.share, lost, l, func() (guard.Published, error) {
		is, err := s.published(ctx, b.record, g, lost)
		maps.DeleteFunc(is.Own, func(host string, _ bool) bool { return givenUp[host] })
		return is, err
	})
	return next, held, err
}

// attempts is how often books are read and written again because others of the record were written meanwhile.
const attempts = 8

func overtaken(record intent.Path) error {
	return &intent.Error{Code: appcontext.ErrStale, Detail: "other names of " + string(record) + " have just been removed"}
}

// settle judges a loss and writes the books, unless refused says that the names which are to stay may not. It answers the
// names, and compares that the books still say the same of the group.
func (s *Guard) settle(ctx context.Context, record intent.Path, uid string, g plan.Group, l guard.Loss, refused func(held []string) error) (next books, held []string, when []kv.Compare, err error) {
	for range attempts {
		was, err := s.open(ctx, record, uid, g.Path, l.Now)
		if err != nil {
			return next, nil, nil, err
		}
		next, held, err := s.judge(ctx, was, g, l, nil)
		if err == nil {
			err = refused(held)
		}
		if err != nil {
			return next, held, nil, err
		}
		when, done, err := s.keep(ctx, was, next)
		if err != nil || done {
			return next, held, when, err
		}
	}
	return next, nil, nil, overtaken(record)
}

// keep writes books in the place of those that were read, as far as they differ. It is not done if others have
// written meanwhile, or if the account has only begun anew.
func (s *Guard) keep(ctx context.Context, was opened, next books) (when []kv.Compare, done bool, err error) {
	if was.begins {
		raw, err := json.Marshal(was.account)
		if err == nil {
			_, _, err = s.KV.Txn(ctx, was.when[:1], kv.Put(was.keys[0], raw), kv.DeletePrefix(sharesPrefix(was.record)))
		}
		return nil, false, err
	}
	is := [3]any{next.account, next.share, next.permits}
	empty := [3]bool{false, next.share.Held == 0 && len(next.share.Gone) == 0, len(next.permits) == 0}
	var ops []kv.Op
	var changed []int
	for n, before := range [3]any{was.account, was.share, was.permits} {
		if reflect.DeepEqual(before, is[n]) {
			continue
		}
		raw, err := json.Marshal(is[n])
		if err != nil {
			return nil, false, err
		}
		op := kv.Put(was.keys[n], raw)
		if empty[n] {
			op = kv.Delete(was.keys[n])
		}
		ops, changed = append(ops, op), append(changed, n)
	}
	when = slices.Clone(was.when[1:])
	if len(ops) == 0 {
		return when, true, nil
	}
	done, revision, err := s.KV.Txn(ctx, was.when[:], ops...)
	for _, n := range changed {
		if n > 0 && empty[n] {
			when[n-1] = kv.Unchanged(was.keys[n], nil)
		} else if n > 0 {
			when[n-1] = kv.Compare{Key: was.keys[n], ModRevision: revision}
		}
	}
	return when, done, err
}

// SettleLoss charges a record's account with a loss of a group, and answers the names that
// are to stay.
func (s *Guard) SettleLoss(ctx context.Context, record intent.Path, uid string, g plan.Group, loss guard.Loss, all *Result) ([]string, error) {
	next, held, when, err := s.settle(ctx, record, uid, g, loss, func([]string) error { return nil })
	if err != nil {
		return nil, err
	}
	all.When, all.Seen[record] = append(all.When, when...), true
	if next.share.Held > 0 || len(next.permits) > 0 {
		all.Of[record] = state.RetainedNames{Record: record, Names: len(held)}
	}
	return held, nil
}

// Permit writes down that names of a record may go that somebody has asked for, by group.
func (s *Guard) Permit(ctx context.Context, record intent.Path, permits map[intent.Path]guard.Permit) error {
	for groups := range slices.Chunk(slices.Sorted(maps.Keys(permits)), kv.MaxOps) {
		done := false
		for n := 0; n < attempts && !done; n++ {
			var err error
			if done, err = s.permit(ctx, record, groups, permits); err != nil {
				return err
			}
		}
		if !done {
			return overtaken(record)
		}
	}
	return nil
}

func (s *Guard) permit(ctx context.Context, record intent.Path, groups []intent.Path, permits map[intent.Path]guard.Permit) (done bool, err error) {
	var keys []string
	for _, group := range groups {
		keys = append(keys, permitsPrefix(record)+string(group))
	}
	items, _, err := s.KV.Range(ctx, kv.Range{Keys: keys})
	if err != nil {
		return false, err
	}
	var when []kv.Compare
	var ops []kv.Op
	for n, group := range groups {
		var before []guard.Permit
		unchanged := kv.Unchanged(keys[n], nil)
		if len(items) > 0 && items[0].Key == keys[n] {
			if err := json.Unmarshal(items[0].Value, &before); err != nil {
				return false, fmt.Errorf("%s: %w", keys[n], err)
			}
			unchanged, items = kv.Unchanged(keys[n], &items[0]), items[1:]
		}
		raw, err := json.Marshal(guard.Permitted(before, permits[group]))
		if err != nil {
			return false, err
		}
		when, ops = append(when, unchanged), append(ops, kv.Put(keys[n], raw))
	}
	done, _, err = s.KV.Txn(ctx, when, ops...)
	return done, err
}

// Sweep forgets what went so long ago that it does not count any more.
func (s *Guard) Sweep(ctx context.Context) error {
	accounts, _, err := s.KV.Range(ctx, kv.Range{Prefix: accountsPrefix})
	for _, item := range accounts {
		var account guard.Account
		if err := json.Unmarshal(item.Value, &account); err != nil {
			return fmt.Errorf("%s: %w", item.Key, err)
		}
		if !account.Ends(account.UID, s.Now()) {
			continue
		}
		record := intent.Path(strings.TrimPrefix(item.Key, accountsPrefix))
		if _, _, err := s.KV.Txn(ctx, []kv.Compare{kv.Unchanged(item.Key, &item)}, kv.Delete(item.Key), kv.DeletePrefix(sharesPrefix(record))); err != nil {
			return err
		}
	}
	return err
}

// published is what is published of a record, as far as a loss of a group is judged by it.
func (s *Guard) published(ctx context.Context, record intent.Path, g plan.Group, lost []string) (p guard.Published, err error) {
	if p.Own, err = s.givenBy(ctx, g.Path, record); err != nil {
		return p, err
	}
	p.Others, err = s.givenByOthers(ctx, record, g, lost)
	p.Count = func() (int, error) { return s.count(ctx, record) }
	return p, err
}

// givenByOthers are those of a group's names that other deployed groups give to the same record. They have claimed them.
func (s *Guard) givenByOthers(ctx context.Context, record intent.Path, g plan.Group, names []string) (state.NameSet, error) {
	var keys []nameclaim.Key
	for _, request := range ownership.RequestsOf(g) {
		if slices.Contains(names, request.Host) {
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
			if entry.Stays || entry.Group == g.Path || holders[entry.Group].Seq > 0 {
				continue
			}
			if holders[entry.Group], err = s.StoredLifecycle(ctx, entry.Group); err != nil {
				return nil, err
			}
		}
	}
	given, err := s.given(ctx, record, holders)
	others := state.NameSet{}
	for _, its := range given {
		maps.Copy(others, its)
	}
	return others, err
}

// count is how many names a record has, with those that have gone. The cost is that of reading all of them.
func (s *Guard) count(ctx context.Context, record intent.Path) (int, error) {
	given, err := s.givenByAll(ctx, record)
	if err != nil {
		return 0, err
	}
	all := state.NameSet{}
	for _, its := range given {
		maps.Copy(all, its)
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
