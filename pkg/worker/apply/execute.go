package apply

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// Parallel is how many requests are under way at a time in one cluster.
const Parallel = 8

// waves orders actions. Objects are made in the order of kinds, each kind's only after
// those of the kinds before. Then objects are deleted, in the reverse order.
func waves(actions []action) [][]action {
	rank := func(a action) int {
		order := cluster.Order(cluster.KindOf(a.id))
		if a.want == nil {
			return -order
		}
		return order
	}
	leaving := func(a action) int {
		if a.want == nil {
			return 1
		}
		return 0
	}
	compare := func(a, b action) int {
		return cmp.Or(cmp.Compare(leaving(a), leaving(b)), cmp.Compare(rank(a), rank(b)))
	}
	sorted := slices.Clone(actions)
	slices.SortFunc(sorted, func(a, b action) int { return cmp.Or(compare(a, b), bundle.Compare(a.id, b.id)) })
	var out [][]action
	for _, a := range sorted {
		if n := len(out); n > 0 && compare(out[n-1][0], a) == 0 {
			out[n-1] = append(out[n-1], a)
			continue
		}
		out = append(out, []action{a})
	}
	return out
}

// execute does the actions in waves and notes each wave's outcomes in the
// ledger. When the cluster falls silent the rest is put off.
func (t *Applier) execute(ctx context.Context, actions []action) error {
	all := waves(actions)
	left := len(actions)
	for i, wave := range all {
		t.Metrics.Queue(left)
		if err := t.own(ctx); err != nil {
			return err
		}
		outcomes, err := t.wave(ctx, t.serveable(ctx, wave))
		silent := t.note(ctx, outcomes)
		if err != nil {
			return err
		}
		left -= len(wave)
		if silent {
			for _, rest := range all[i+1:] {
				t.deferApply(rest, "waits for the cluster to answer")
			}
		}
		if err := t.Ledger.Flush(ctx); err != nil {
			return err
		}
		if silent {
			t.link.Suspect()
			break
		}
	}
	t.Metrics.Queue(0)
	return nil
}

// serveable leaves out what the cluster does not know the kind of yet, and what
// somebody else's object is in the way of.
func (t *Applier) serveable(ctx context.Context, wave []action) []action {
	var out []action
	missing := map[cluster.Kind]error{}
	for _, a := range wave {
		if why := t.existingInTheWay(a); why != "" {
			t.note(ctx, []outcome{outcome{action: a, entry: t.Ledger.Entries()[a.id]}.failed(&fault.Error{Fault: fault.Stale, Message: why})})
			continue
		}
		kind := cluster.KindOf(a.id)
		if a.want == nil || !cluster.NeedsDefinition(kind) {
			out = append(out, a)
			continue
		}
		if _, asked := missing[kind]; !asked {
			missing[kind] = t.link.Establish(ctx, kind)
		}
		if err := missing[kind]; err != nil {
			t.note(ctx, []outcome{outcome{action: a, entry: t.Ledger.Entries()[a.id]}.failed(err)})
			continue
		}
		out = append(out, a)
	}
	return out
}

// ownsFor is how long a worker relies on having read that the cluster is its own.
const ownsFor = time.Second

// own makes sure that the cluster is this worker's: who stood still for longer
// than the lease must not come back with requests of old.
func (t *Applier) own(ctx context.Context) error {
	now := t.Clock.Now()
	err := t.Ledger.Own(ctx)
	if err == nil {
		t.ownedAt.Store(&now)
	}
	return err
}

// owned makes sure of it if that is some time ago.
func (t *Applier) owned(ctx context.Context) error {
	if t.Clock.Now().Sub(*t.ownedAt.Load()) < ownsFor {
		return nil
	}
	return t.own(ctx)
}

// wave does actions that do not depend on each other, eight at a time, and
// answers what became of them. Once the cluster falls silent, those that have
// not begun are put off. When it is not this worker's any more, they are left
// out, and the error says so.
func (t *Applier) wave(ctx context.Context, actions []action) ([]outcome, error) {
	p := &performer{target: t.link.Target(), installation: t.Installation, occupied: t.occupied, mayStillCome: t.mayStillCome, mayUse: t.mayUse}
	outcomes := make([]outcome, len(actions))
	var next atomic.Int64
	var silent atomic.Bool
	var group errgroup.Group
	for range min(Parallel, len(actions)) {
		group.Go(func() error {
			for int(next.Load()) < len(actions) {
				if err := t.owned(ctx); err != nil {
					return err
				}
				i := int(next.Add(1)) - 1
				if i >= len(actions) {
					break
				}
				entry := t.Ledger.Entries()[actions[i].id]
				if silent.Load() || ctx.Err() != nil {
					outcomes[i] = outcome{action: actions[i], entry: entry}.failed(&fault.Error{
						Fault: fault.Unreachable, Message: "waits for the cluster to answer"})
					continue
				}
				if until := t.contests.until(actions[i], t.Clock.Now()); !until.IsZero() {
					outcomes[i] = outcome{action: actions[i], entry: entry}.contested(until)
					continue
				}
				outcomes[i] = t.perform(ctx, p, actions[i], entry)
				outcomes[i].at = t.Clock.Now()
				if outcomes[i].silent {
					silent.Store(true)
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(outcomes, func(o outcome) bool { return o.action.operation == nothing }), err
}

// occupied tells whether the ledger holds objects in a namespace. It is called
// from a wave, during which the entries stay as they are.
func (t *Applier) occupied(namespace string) bool {
	for id, entry := range t.Ledger.Entries() {
		if id.Namespace == namespace && (entry.Held() || entry.Status != ledger.Failed) {
			return true
		}
	}
	return false
}

// mayStillCome tells whether an absent object may still come to be. It is called
// from a wave, which leaves the pendingCreates as they are.
func (t *Applier) mayStillCome(id bundle.ID) bool {
	return t.pendingCreates.holds(id, t.Clock.Now())
}

// note takes up what became of actions, and tells whether the cluster fell
// silent.
func (t *Applier) note(ctx context.Context, outcomes []outcome) bool {
	silent := false
	for _, o := range outcomes {
		id := o.action.id
		silent = silent || o.silent
		t.log(ctx, o)
		t.learn(o)
		t.attempts.note(o, t.Clock.Now())
		t.pendingCreates.note(o, t.Clock.Now())
		t.contests.note(o, t.Clock.Now())
		if o.gone {
			t.drop(id)
			continue
		}
		if want := o.action.want; want != nil && o.entry.Status == ledger.Applied && t.Ledger.Entries()[id].Digest != want.Digest {
			t.Metrics.Applied(want.Stages.Times().Decided, t.Clock.Now())
			if id.IsEndpoint() {
				o.entry.Stages = t.written(o)
			}
		}
		t.Ledger.Set(o.entry)
	}
	return silent
}

// written is when a DNSEndpoint that has just been written came how far.
func (t *Applier) written(o outcome) *ledger.Stages {
	s, of := o.action.want.Stages.Times(), state.MarkOf(o.action.id, o.action.want).Metric()
	s.Written = o.at.UTC()
	t.Metrics.Reached(metrics.Seen, of, s.Observed, s.Seen)
	t.Metrics.Reached(metrics.Decided, of, s.Observed, s.Decided)
	t.Metrics.Reached(metrics.Written, of, s.Observed, s.Written)
	written := ledger.StagesOf(s)
	return &written
}

// learn draws conclusions about other objects from an outcome.
func (t *Applier) learn(o outcome) {
	kind := cluster.KindOf(o.action.id)
	switch o.fault {
	case cluster.NotServed:
		t.link.NotServed(kind)
		t.lookAgain(func(id bundle.ID) bool { return cluster.IsDefinition(cluster.KindOf(id)) })
	case cluster.NoNamespace:
		t.lookAgain(func(id bundle.ID) bool {
			return cluster.IsNamespace(cluster.KindOf(id)) && id.Name == o.action.id.Namespace
		})
	}
	if o.repaired {
		t.Metrics.Repaired()
	}
}

// lookAgain has those objects of others that we use looked at again: they may
// be gone.
func (t *Applier) lookAgain(which func(bundle.ID) bool) {
	for id := range t.Ledger.Foreign() {
		if which(id) {
			t.recheck[id] = true
			t.Agenda.Add(id)
		}
	}
}

// deferApply marks what cannot be tried now.
func (t *Applier) deferApply(actions []action, message string) {
	for _, a := range actions {
		if a.operation == forget {
			t.drop(a.id)
			continue
		}
		entry := t.Ledger.Entries()[a.id]
		entry.Status, entry.Message = ledger.Retrying, message
		t.Ledger.Set(entry)
	}
}

func (t *Applier) log(ctx context.Context, o outcome) {
	id := o.action.id
	ctx = t.traced(ctx, o.action, t.Ledger.Entries()[id])
	switch {
	case o.conflict:
		if t.Ledger.Entries()[id].Message != o.entry.Message {
			t.Metrics.Conflicted()
			t.Logger.WarnContext(ctx, "conflict", "object", id.String(), "message", o.entry.Message)
		}
	case o.fault != "":
		if t.Ledger.Entries()[id].Message != o.entry.Message {
			t.Logger.WarnContext(ctx, "object deferred", "object", id.String(), "deed", string(o.action.operation), "why", o.action.why, "message", o.entry.Message)
		}
	case o.gone:
		t.Logger.InfoContext(ctx, "object gone", "object", id.String(), "why", o.action.why)
	case o.repaired:
		t.Logger.InfoContext(ctx, "drift repaired", "object", id.String(), "why", o.action.why)
	case o.waiting:
		t.Logger.DebugContext(ctx, "object awaited", "object", id.String(), "message", o.entry.Message)
	default:
		t.Logger.DebugContext(ctx, "object applied", "object", id.String(), "why", o.action.why)
	}
}
