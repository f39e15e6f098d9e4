package removal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Layout of the keys. Shares and permits of groups may be very many, so that they are not below the accounts.
const (
	accountsPrefix = "/signpost/removals/" // {record}
	allShares      = "/signpost/removed/"  // {record}//{owner}
	allPermits     = "/signpost/permits/"  // {record}//{owner}
)

func accountKey(record intent.Path) string { return accountsPrefix + string(record) }

func sharesPrefix(record intent.Path) string { return allShares + string(record) + "//" }

func permitsPrefix(record intent.Path) string { return allPermits + string(record) + "//" }

// books are a record's account, and what one group has to do with it.
type books struct {
	account guard.Account
	share   guard.Share
	permits []guard.Permit
	relies  []kv.Compare // other groups still give names that the group may give up
}

// opened are books as they were read.
type opened struct {
	books

	record intent.Path
	keys   [3]string     // of the account, the share, and the permits
	when   [3]kv.Compare // they are as they were read
	of     string        // uid of the record that the account was of; empty: there was none
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
	b.of = b.account.UID
	uid = cmp.Or(uid, b.of)
	if b.account.Ends(uid, now) {
		b.begins = b.account != (guard.Account{})
		b.account, b.share = guard.Account{UID: uid}, guard.Share{}
	}
	return b, nil
}

// judge answers the books after a loss, and the names that are to stay. Names that the group is asked to give up do not count as
// its own. There is room for so many compares of other groups. It writes nothing.
func (s *Guard) judge(ctx context.Context, b opened, g plan.Group, l guard.Loss, givenUp state.NameSet, room int) (next books, held []string, err error) {
	lost, permits := guard.Spend(l, b.permits)
	next = books{permits: permits}
	next.account, next.share, held, err = b.account.Judge(b.share, lost, l, func() (guard.Published, error) {
		is, relies, err := s.published(ctx, b, g, lost, room)
		maps.DeleteFunc(is.Own, func(host string, _ bool) bool { return givenUp[host] })
		next.relies = relies
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
func (s *Guard) settle(ctx context.Context, record intent.Path, uid string, g plan.Group, l guard.Loss, room int, refused func(held []string) error) (next books, held []string, when []kv.Compare, err error) {
	first := ""
	for n := range attempts {
		was, err := s.open(ctx, record, uid, g.Path, l.Now)
		if err != nil {
			return next, nil, nil, err
		}
		if n == 0 {
			first = was.of
		}
		if was.of != first && was.of != uid {
			break // meanwhile it is the account of a record that was made anew
		}
		next, held, err := s.judge(ctx, was, g, l, nil, room)
		if err == nil {
			err = refused(held)
		}
		if err != nil {
			return next, held, nil, err
		}
		when, done, err := s.keep(ctx, was, next)
		if err != nil || done {
			return next, held, slices.Concat(when, next.relies), err
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
	next, held, when, err := s.settle(ctx, record, uid, g, loss, max(0, mostCompared-len(all.When)), func([]string) error { return nil })
	if err != nil {
		return nil, err
	}
	all.When, all.Seen[record] = append(all.When, when...), true
	if next.share.Held > 0 || len(next.permits) > 0 {
		all.Of[record] = state.RetainedNames{Record: record, Names: len(held)}
	}
	return held, nil
}
