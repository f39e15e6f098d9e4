package apply

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// outcome is what became of an action.
type outcome struct {
	action   action
	entry    ledger.Entry // as it is now, unless gone
	gone     bool         // the entry goes: the object is absent, or none of ours
	fault    fault.Kind   // why another attempt is needed, empty when none is
	conflict bool         // somebody else's object is in the way
	waiting  bool         // done, but its end must be awaited
	repaired bool         // drift was put right, by a write that changed something
	until    time.Time    // of a conflict: when it is tried again, zero for soon
	silent   bool         // the cluster gave no answer at all
	at       time.Time    // when it came
}

// staleLooks is how often an object may change under our hands before the
// action is put off.
const staleLooks = 4

// performer does single actions on one cluster. It holds no state.
type performer struct {
	target       cluster.Target
	installation string
	occupied     func(namespace string) bool // by objects of ours
	mayStillCome func(id bundle.ID) bool     // whether an absent object may still come to be

	mayUse MayUse // nil: all may
}

// perform executes an action, given the object's entry.
func (p *performer) perform(ctx context.Context, a action, entry ledger.Entry) outcome {
	o := outcome{action: a, entry: entry}
	switch {
	case (a.operation == create || a.operation == apply) && entry.Shared:
		return p.share(ctx, o)
	case a.operation == remove && entry.Shared:
		return p.unshare(ctx, o)
	}
	switch a.operation {
	case create:
		return p.create(ctx, o)
	case apply:
		return p.apply(ctx, o, a.at, staleLooks)
	case remove:
		return p.remove(ctx, o)
	case forget:
		o.gone = true
	case await:
		return o.awaiting()
	}
	return o
}

func (p *performer) create(ctx context.Context, o outcome) outcome {
	live, err := p.target.Create(ctx, o.action.want.Object)
	if fault.Of(err) == cluster.Exists {
		return p.lookAndApply(ctx, o, staleLooks)
	}
	if err != nil {
		return o.failed(err)
	}
	o.repaired = o.action.drift
	return o.applied(live)
}

// share puts our keys into somebody else's object.
func (p *performer) share(ctx context.Context, o outcome) outcome {
	live, err := p.target.Share(ctx, o.action.want.Object)
	if err != nil {
		return o.failed(err)
	}
	o = o.applied(live)
	o.entry.CreatedByUs, o.entry.Message = false, "somebody else's: our keys alone are put in and taken out"
	return o
}

func (p *performer) unshare(ctx context.Context, o outcome) outcome {
	if err := p.target.Unshare(ctx, o.action.id); err != nil {
		return o.failed(err)
	}
	o.gone = true
	return o
}

func (p *performer) apply(ctx context.Context, o outcome, at cluster.Version, looks int) outcome {
	live, err := p.target.Apply(ctx, o.action.want.Object, at)
	if fault.Of(err) == fault.Stale && looks > 0 {
		return p.lookAndApply(ctx, o, looks-1)
	}
	if err != nil {
		return o.failed(err)
	}
	if len(live.Additions.Exclusive) > 0 {
		live, err = p.target.Restore(ctx, o.action.want.Object, live.Version)
		if fault.Of(err) == fault.Stale && looks > 0 {
			return p.lookAndApply(ctx, o, looks-1)
		}
		if err != nil {
			return o.failed(err)
		}
	}
	o.repaired = o.action.drift && live.Version != at
	return o.applied(live)
}

// lookAndApply finds out whose the object is, and goes on by that.
func (p *performer) lookAndApply(ctx context.Context, o outcome, looks int) outcome {
	live, err := p.target.Get(ctx, o.action.id)
	switch {
	case err != nil:
		return o.failed(err)
	case live == nil && looks > 0:
		created, err := p.target.Create(ctx, o.action.want.Object)
		if fault.Of(err) == cluster.Exists {
			return p.lookAndApply(ctx, o, looks-1)
		}
		if err != nil {
			return o.failed(err)
		}
		o.repaired = o.action.drift
		return o.applied(created)
	case live == nil:
		return o.failed(&fault.Error{Fault: fault.Stale, Message: "the object keeps changing"})
	case !p.ours(*live, o.entry):
		return p.existing(ctx, o, *live)
	case live.Deleting:
		return o.awaiting()
	}
	return p.apply(ctx, o, live.Version, looks)
}

// ours tells whether an object belongs to this installation: by its label, or
// because we made it and somebody only took the label off.
func (p *performer) ours(live cluster.Live, entry ledger.Entry) bool {
	if live.Ours(p.installation) {
		return true
	}
	_, labelled := live.Labels[bundle.LabelInstallation]
	return !labelled && entry.CreatedByUs && entry.UID != "" && entry.UID == live.UID
}

// remove deletes the object if it is ours, and answers gone only when it was
// seen to be absent.
func (p *performer) remove(ctx context.Context, o outcome) outcome {
	for range staleLooks {
		live, err := p.target.Get(ctx, o.action.id)
		switch {
		case err != nil:
			return o.failed(err)
		case live == nil && p.mayStillCome(o.action.id):
			return o.stillPending()
		case live == nil, !p.ours(*live, o.entry):
			o.gone = true
			return o
		case live.Deleting:
			return o.awaiting()
		}
		if cluster.IsNamespace(cluster.KindOf(o.action.id)) {
			if kept := p.keep(ctx, o); kept != nil {
				return *kept
			}
		}
		err = p.target.Delete(ctx, o.action.id, live.Version)
		if err != nil && fault.Of(err) != fault.Stale {
			return o.failed(err)
		}
		if err == nil {
			return p.confirm(ctx, o)
		}
	}
	return o.failed(&fault.Error{Fault: fault.Stale, Message: "the object keeps changing"})
}

// keep answers why a namespace cannot go yet, nil when it can.
func (p *performer) keep(ctx context.Context, o outcome) *outcome {
	if p.occupied(o.action.id.Name) {
		o.entry.Message, o.waiting = "kept until our objects in it are gone", true
		return &o
	}
	by, err := p.target.Occupant(ctx, o.action.id.Name)
	if fault.Of(err) == fault.Refused {
		o.entry.Kept, o.waiting = true, true
		o.entry.Message = "kept: no permission to check whether it is empty: " + err.Error()
		return &o
	}
	if err != nil {
		failed := o.failed(err)
		return &failed
	}
	if by == "" {
		return nil
	}
	o.entry.Kept, o.waiting = true, true
	o.entry.Message = fmt.Sprintf("kept as long as others use it: it holds %s", by)
	return &o
}

func (p *performer) confirm(ctx context.Context, o outcome) outcome {
	live, err := p.target.Get(ctx, o.action.id)
	if err == nil && live == nil {
		o.gone = true
		return o
	}
	return o.awaiting()
}

// applied notes that the cluster has the object as wanted.
func (o outcome) applied(live cluster.Live) outcome {
	o.entry.UID, o.entry.ResourceVersion, o.entry.Generation = live.UID, live.ResourceVersion, live.Generation
	o.entry.Digest, o.entry.CreatedByUs = o.action.want.Digest, true
	o.entry.Status, o.entry.Message = ledger.Applied, o.action.want.Message()
	o.entry.Drift = ""
	if added := live.Additions.Other; len(added) > 0 {
		o.entry.Drift = "others have added to it, and it stays: " + strings.Join(added[:min(len(added), toldAdditions)], ", ")
	}
	return o
}

// toldAdditions is how many additions of others are told of an object, at most.
const toldAdditions = 10

// strange notes that somebody else's object has the name: namespaces and
// definitions are used as they are, anything else is a conflict.
func (o outcome) strange(live cluster.Live) outcome {
	kind := cluster.KindOf(o.action.id)
	o.entry.UID, o.entry.ResourceVersion, o.entry.Generation, o.entry.CreatedByUs = "", "", 0, false
	shared := cluster.IsNamespace(kind) || cluster.IsDefinition(kind)
	switch {
	case shared && live.Deleting:
		o.entry.Digest, o.entry.Status = "", ledger.Retrying
		o.entry.Message, o.waiting = "somebody else's is being deleted: it is made again when that has ended", true
	case shared:
		o.entry.Digest, o.entry.Status = o.action.want.Digest, ledger.Applied
		o.entry.Message = "it was there before: used as it is, never changed or deleted"
	default:
		o.entry.Digest, o.entry.Status = "", ledger.Failed
		o.entry.Message = "conflict: a " + kind.Kind + " of this name is there that is not ours; it stays untouched"
		o.conflict = true
	}
	return o
}

// awaiting notes that the object is being deleted.
func (o outcome) awaiting() outcome {
	o.waiting = true
	if o.action.want == nil {
		o.entry.Status, o.entry.Message = ledger.Deleted, "the delete was accepted and has not ended"
		return o
	}
	o.entry.Status = ledger.Retrying
	o.entry.Message = "it is being deleted: it is made again when that has ended"
	return o
}

// stillPending notes that the object is absent, and may not stay so.
func (o outcome) stillPending() outcome {
	o.waiting = true
	o.entry.Status, o.entry.Message = ledger.Retrying, "it is not there, but its creation was not answered and may still happen: it is looked at again"
	return o
}

// failed notes an attempt that did not succeed.
func (o outcome) failed(err error) outcome {
	o.fault = fault.Of(err)
	o.silent = o.fault == fault.Unreachable && cluster.CodeOf(err) == 0
	o.entry.Status, o.entry.Message = ledger.Retrying, err.Error()
	if o.fault == fault.Refused {
		o.entry.Status = ledger.Failed
	}
	return o
}
