package removal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Outcomes of what nobody has asked for.
const (
	outcomeFrozen = "frozen" // names stay that would have gone
	outcomeThawed = "thawed" // they have gone, or are offered again
)

// Result is what a step makes of the names that its group would lose.
type Result struct {
	When []kv.Compare                        // the accounts say the same of the group as when they were settled, and others still give names
	Of   map[intent.Path]state.RetainedNames // by record, where an account has something to settle with the group
	Seen map[intent.Path]bool                // records whose account was settled

	Records map[string]plan.Record // by name, as the group follows them; none where nothing is to be in the clusters
}

// settleBack settles with the accounts of which the group has lost nothing any
// more, or is no user.
func (s *Guard) settleBack(ctx context.Context, group intent.Path, l *state.Lifecycle, all *Result) error {
	for _, h := range l.Retained {
		if all.Seen[h.Record] {
			continue
		}
		pinned, err := s.RecordLifecycle(ctx, h.Record)
		if err != nil {
			return err
		}
		if follows, uses := all.Records[h.Record.Name()]; uses && !state.SameRecord(pinned.Record, follows) {
			return &intent.Error{Code: appcontext.ErrStale, Detail: string(h.Record) + " has just been updated"}
		}
		loss := guard.Loss{For: []string{l.ContextID, pinned.ContextID}, Now: s.Now().UTC()}
		if _, err := s.SettleLoss(ctx, h.Record, "", plan.Group{Path: group}, loss, all); err != nil {
			return err
		}
	}
	return nil
}

// NoteRetained has the group's lifecycle say which names stay although nothing offers
// them any more, and tells of it once.
func (s *Guard) NoteRetained(ctx context.Context, group intent.Path, l *state.Lifecycle, all *Result) error {
	if err := s.settleBack(ctx, group, l, all); err != nil {
		return err
	}
	var next []state.RetainedNames
	for _, record := range slices.Sorted(maps.Keys(all.Of)) {
		h := all.Of[record]
		if before := l.RetainedOf(record); h.Names > 0 && before.Names > 0 {
			h.Since = before.Since
		} else if h.Names > 0 {
			h.Since = s.Now().UTC()
		}
		next = append(next, h)
	}
	s.heldNow.note(group, next)
	remover := "an update with the token of a plan"
	if intent.IsName(group) {
		remover = "unpublishing it with the token of its plan"
	}
	for _, h := range next {
		if h.Names > 0 && l.RetainedOf(h.Record).Names == 0 {
			s.tellRetained(ctx, group, l, outcomeFrozen, guard.Held(h.Names, h.Record.Name(), remover))
		}
	}
	for _, h := range l.Retained {
		if h.Names > 0 && !slices.ContainsFunc(next, func(n state.RetainedNames) bool { return n.Record == h.Record && n.Names > 0 }) {
			s.tellRetained(ctx, group, l, outcomeThawed, fmt.Sprintf("names of provider %q no longer stay without an address", h.Record.Name()))
		}
	}
	l.Retained = next
	return nil
}

func (s *Guard) tellRetained(ctx context.Context, group intent.Path, l *state.Lifecycle, outcome, message string) {
	l.Record(intent.Event{Time: s.Now().UTC(), Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: outcome, Message: message})
	s.Logger.WarnContext(ctx, "removal of names that nobody asked for", "outcome", outcome, "group", group, "message", message)
}

// retainedNow is which names this replica's last steps have kept published although
// nothing offers them an address.
type retainedNow struct {
	mu   sync.Mutex
	by   map[intent.Path][]state.RetainedNames // by group
	told map[intent.Path]map[state.Held]bool   // by group: which they are, and the histories of names have it
}

func (n *retainedNow) note(group intent.Path, held []state.RetainedNames) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(held) == 0 {
		delete(n.by, group)
		return
	}
	if n.by == nil {
		n.by = map[intent.Path][]state.RetainedNames{}
	}
	n.by[group] = held
}

// RetainedNames is how many names of each provider stay published without an address,
// because too many would go. It is known from the last steps of this replica. Providers
// without any are left out.
func (s *Guard) RetainedNames() map[intent.Path]int {
	s.heldNow.mu.Lock()
	defer s.heldNow.mu.Unlock()
	out := map[intent.Path]int{}
	for _, held := range s.heldNow.by {
		for _, h := range held {
			if h.Names > 0 {
				out[h.Record] += h.Names
			}
		}
	}
	return out
}

// BeginToStay notes that a group has begun to keep names, and that no history has it yet.
func (s *Guard) BeginToStay(group intent.Path) { s.heldNow.tell(group, map[state.Held]bool{}) }

// BegunToStay answers which of the names that a group keeps have begun to stay since its last step, in order. If some stayed
// before and this replica does not know which, none has begun.
func (s *Guard) BegunToStay(group intent.Path, kept map[state.Held]bool, before bool) (begun []state.Held) {
	told, known := s.heldNow.tell(group, kept)
	if before && !known {
		return nil
	}
	for held := range kept {
		if !before || !told[held] {
			begun = append(begun, held)
		}
	}
	slices.SortFunc(begun, func(a, b state.Held) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.Provider, b.Provider))
	})
	return begun
}

// tell notes of which names of a group the histories have that they stay, and answers of which they had before, if that is known.
func (n *retainedNow) tell(group intent.Path, now map[state.Held]bool) (told map[state.Held]bool, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if told, known = n.told[group]; n.told == nil {
		n.told = map[intent.Path]map[state.Held]bool{}
	}
	n.told[group] = now
	return told, known
}
