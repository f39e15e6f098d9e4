package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/guard"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// Names go by themselves, too, when nothing offers them an address any more. How
// many of a record's names have gone so is in an account that all replicas share
// (pkg/guard): a step of a whole group charges it before it writes, and what it
// writes compares it. Where too many would go, they stay as they are published
// until somebody asks for it, or they are offered again.

// Held says of how many names of a record a group keeps the addresses published
// although nothing offers them any more.
type Held struct {
	Record intent.Path `json:"record"`
	Names  int         `json:"names"`          // 0: those that somebody has asked for are going
	Since  time.Time   `json:"since,omitzero"` // when the first of them would have gone; zero without names
}

// Outcomes of what nobody has asked for.
const (
	outcomeFrozen = "frozen" // names stay that would have gone
	outcomeThawed = "thawed" // they have gone, or are offered again
)

// watchLoss notes a host that is published now, and for which nothing was chosen.
// One that goes with the addresses of a drained cluster was asked for.
func (c *contents) watchLoss(b plan.Binding, host plan.Host, in address.Input, choice address.Choice) {
	if len(endpoints.Sets(host, choice)) > 0 || len(endpoints.Sets(host, address.Choice{Sets: in.Previous})) == 0 || drainedAway(in) {
		return
	}
	if c.lost == nil {
		c.lost = map[string]nameSet{}
	}
	if c.lost[b.Record] == nil {
		c.lost[b.Record] = nameSet{}
	}
	c.lost[b.Record][host.Name] = true
}

// drainedAway says whether what is published now is a drained cluster's.
func drainedAway(in address.Input) bool {
	offers := slices.Clone(in.Offers)
	for n := range offers {
		offers[n].Standing.Drained = false
	}
	if !slices.ContainsFunc(in.Offers, func(o address.Offer) bool { return o.Standing.Drained }) {
		return false
	}
	in.Offers = offers
	otherwise, _ := address.Fold(in)
	return slices.ContainsFunc(in.Previous, func(set address.Set) bool {
		return slices.ContainsFunc(otherwise.Targets(set.Type), func(target string) bool { return slices.Contains(set.Targets, target) })
	})
}

// keepPublished puts what hosts publish now in the place of nothing, where it is
// to stay.
func (c *contents) keepPublished(g plan.Group, b plan.Binding, choices []address.Choice, before bundle.Bundle) {
	if len(c.kept[b.Record]) == 0 {
		return
	}
	published := publishedBefore(before, g, b)
	for n, host := range b.Hosts {
		if c.kept[b.Record][host.Name] && len(endpoints.Sets(host, choices[n])) == 0 {
			choices[n].Sets, choices[n].Kept = published[host.Name], len(published[host.Name]) > 0
		}
	}
}

// settlement is what a step makes of the names that its group would lose.
type settlement struct {
	when []kv.Compare         // the accounts are as they were settled
	of   map[intent.Path]Held // by record, where an account has something to settle with the group
	seen map[intent.Path]bool // records whose account was settled

	records map[string]plan.Record // by name, as the group follows them; none where nothing is to be in the clusters
}

// keep settles what a group loses with the accounts of the records, and answers
// what stays.
func (s *Service) keep(ctx context.Context, l Lifecycle, on *ground, lost map[string]nameSet, all *settlement) (map[string]nameSet, error) {
	kept := map[string]nameSet{}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		record := on.records[name]
		pinned, err := s.recordLifecycle(ctx, record.Path)
		if err != nil {
			return nil, err
		}
		if !sameRecord(pinned.Record, record) {
			return nil, &intent.Error{Code: appcontext.ErrStale, Detail: string(record.Path) + " has just been updated"}
		}
		held, err := s.settleLoss(ctx, record.Path, record.UID, guard.Loss{
			Group: string(on.group.Path), Names: slices.Sorted(maps.Keys(lost[name])), For: []string{l.ContextID, pinned.ContextID},
			Percent: maxRemoval(record), Now: s.Now().UTC(),
		}, all)
		if err != nil {
			return nil, err
		}
		kept[name] = nameSet{}
		for _, host := range held {
			kept[name][host] = true
		}
	}
	return kept, nil
}

// settleBack settles with the accounts of which the group has lost nothing any
// more, or is no user.
func (s *Service) settleBack(ctx context.Context, group intent.Path, l Lifecycle, all *settlement) error {
	for _, h := range l.Held {
		if all.seen[h.Record] {
			continue
		}
		pinned, err := s.recordLifecycle(ctx, h.Record)
		if err != nil {
			return err
		}
		if follows, uses := all.records[h.Record.Name()]; uses && !sameRecord(pinned.Record, follows) {
			return &intent.Error{Code: appcontext.ErrStale, Detail: string(h.Record) + " has just been updated"}
		}
		loss := guard.Loss{Group: string(group), For: []string{l.ContextID, pinned.ContextID}, Now: s.Now().UTC()}
		if _, err := s.settleLoss(ctx, h.Record, "", loss, all); err != nil {
			return err
		}
	}
	return nil
}

const removalsPrefix = "/signpost/removals/"

func removalsKey(record intent.Path) string { return removalsPrefix + string(record) }

// account reads what is known of a record's removals. That of a record that was
// deleted meanwhile counts for nothing.
func (s *Service) account(ctx context.Context, record intent.Path, uid string) (guard.Account, *kv.Item, error) {
	var a guard.Account
	item, _, err := s.KV.Get(ctx, removalsKey(record))
	if err == nil && item != nil {
		err = json.Unmarshal(item.Value, &a)
	}
	if uid != "" && a.UID != uid {
		a = guard.Account{UID: uid}
	}
	return a, item, err
}

// keepAccount writes an account in the place of what was read, unless it is the
// same, and answers the compare that it is so still.
func (s *Service) keepAccount(ctx context.Context, record intent.Path, a guard.Account, item *kv.Item) (kv.Compare, error) {
	key := removalsKey(record)
	unchanged := kv.Unchanged(key, item)
	raw, err := json.Marshal(a)
	if err != nil || item != nil && bytes.Equal(raw, item.Value) {
		return unchanged, err
	}
	done, revision, err := s.KV.Txn(ctx, []kv.Compare{unchanged}, kv.Put(key, raw))
	if err == nil && !done {
		err = &intent.Error{Code: appcontext.ErrStale, Detail: "other names of " + string(record) + " have just gone"}
	}
	return kv.Compare{Key: key, ModRevision: revision}, err
}

// settleLoss charges a record's account with a loss, and answers the names that
// are to stay.
func (s *Service) settleLoss(ctx context.Context, record intent.Path, uid string, loss guard.Loss, all *settlement) ([]string, error) {
	account, item, err := s.account(ctx, record, uid)
	if err != nil {
		return nil, err
	}
	next, held, err := account.Judge(loss, func() (guard.Published, error) { return s.publishedBy(ctx, record) })
	if err != nil {
		return nil, err
	}
	compare, err := s.keepAccount(ctx, record, next, item)
	if err != nil {
		return nil, err
	}
	all.when, all.seen[record] = append(all.when, compare), true
	if next.Concerns(loss.Group) {
		all.of[record] = Held{Record: record, Names: len(held)}
	}
	return held, nil
}

// publishedBy are a record's names in the current contexts of groups.
func (s *Service) publishedBy(ctx context.Context, record intent.Path) (guard.Published, error) {
	given, err := s.given(ctx, record)
	by := guard.Published{}
	for group, names := range given {
		by[string(group)] = names
	}
	return by, err
}

// noteHeld has the group's lifecycle say which names stay although nothing offers
// them any more, and tells of it once.
func (s *Service) noteHeld(ctx context.Context, group intent.Path, l Lifecycle, all *settlement) (Lifecycle, error) {
	if err := s.settleBack(ctx, group, l, all); err != nil {
		return l, err
	}
	var next []Held
	for _, record := range slices.Sorted(maps.Keys(all.of)) {
		h := all.of[record]
		if before := l.held(record); h.Names > 0 && before.Names > 0 {
			h.Since = before.Since
		} else if h.Names > 0 {
			h.Since = s.Now().UTC()
		}
		next = append(next, h)
	}
	s.heldNow.note(group, next)
	if slices.Equal(next, l.Held) {
		return l, nil
	}
	for _, h := range next {
		if h.Names > 0 && l.held(h.Record).Names == 0 {
			s.tellHeld(ctx, group, &l, outcomeFrozen, fmt.Sprintf("%d names of record %q stay published although nothing offers them an address any more: that is more than may go at once; "+
				"update with the token of a plan lets them go", h.Names, h.Record.Name()))
		}
	}
	for _, h := range l.Held {
		if h.Names > 0 && !slices.ContainsFunc(next, func(n Held) bool { return n.Record == h.Record && n.Names > 0 }) {
			s.tellHeld(ctx, group, &l, outcomeThawed, fmt.Sprintf("names of record %q stay no longer without an address", h.Record.Name()))
		}
	}
	l.Held = next
	return s.swap(ctx, group, l)
}

func (s *Service) tellHeld(ctx context.Context, group intent.Path, l *Lifecycle, outcome, message string) {
	l.record(intent.Event{Time: s.Now().UTC(), Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: outcome, Message: message})
	s.Logger.WarnContext(ctx, "names that nobody asked to go", "outcome", outcome, "group", group, "message", message)
}

// held says which names of a record stay without an address.
func (l *Lifecycle) held(record intent.Path) Held {
	for _, h := range l.Held {
		if h.Record == record {
			return h
		}
	}
	return Held{Record: record}
}

// stillHeld keeps what a step of the group has kept, as far as is known without
// one.
func (l *Lifecycle) stillHeld(g plan.Group) func(context.Context, map[string]nameSet) (map[string]nameSet, error) {
	return func(_ context.Context, lost map[string]nameSet) (map[string]nameSet, error) {
		kept := map[string]nameSet{}
		for name, hosts := range lost {
			if l.held(intent.Join("projects", g.Project.Name, "dns-update-records", name)).Names > 0 {
				kept[name] = hosts
			}
		}
		return kept, nil
	}
}

// permit writes down that names of a record may go that somebody has asked for.
func (s *Service) permit(ctx context.Context, record plan.Record, p guard.Permit) error {
	account, item, err := s.account(ctx, record.Path, record.UID)
	if err == nil {
		_, err = s.keepAccount(ctx, record.Path, account.Permit(p), item)
	}
	return err
}
