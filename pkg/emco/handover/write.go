package handover

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// load reads what the contexts of the record hold.
func (h *handed) load(ctx context.Context) (err error) {
	if h.given, err = h.store.contents(ctx, h.record.Context, h.cluster); err != nil {
		return err
	}
	if h.before, err = h.store.contents(ctx, h.record.Before, h.cluster); err != nil {
		return err
	}
	h.rest, err = h.store.contents(ctx, h.record.Rest, h.cluster)
	return err
}

// commit stores the record, and does more with it, unless something else than
// the fence stands against that. It is the only writer of the record while it
// owns the cluster.
func (h *handed) commit(ctx context.Context, next record, when []kv.Compare, more ...kv.Op) error {
	op := kv.Delete(key(h.cluster, h.owner))
	if !next.empty() {
		raw, err := json.Marshal(next)
		if err != nil {
			return err
		}
		op = kv.Put(key(h.cluster, h.owner), raw)
	}
	done, _, err := h.store.KV.Txn(ctx, append(slices.Clone(when), h.fence), append(more, op)...)
	switch {
	case intent.CodeOf(err) == intent.Unavailable:
		return lost(err)
	case err != nil:
		return err
	case !done && len(when) == 0:
		return ledger.ErrLost
	case done:
		h.record = next
	}
	return nil
}

// own makes sure that the cluster is still the caller's: who stood still for
// long must not ask rsync for something of old.
func (h *handed) own(ctx context.Context) error {
	done, _, err := h.store.KV.Txn(ctx, []kv.Compare{h.fence})
	switch {
	case intent.CodeOf(err) == intent.Unavailable:
		return lost(err)
	case err == nil && !done:
		return ledger.ErrLost
	}
	return err
}

// discard removes a draft that was not finished.
func (h *handed) discard(ctx context.Context) error {
	next := h.record
	next.Draft = ""
	return h.commit(ctx, next, nil, kv.DeletePrefix(contextKey(h.record.Draft)))
}

func contextKey(id string) string { return "/context/" + id + "/" }

// write lays a context out, after its id was noted, so that it is found again.
func (h *handed) write(ctx context.Context, objects bundle.Bundle, meta appcontext.Meta, more ...func(id string) kv.Op) (id string, err error) {
	draft := h.record
	draft.Draft = appcontext.NewID()
	if err := h.commit(ctx, draft, nil); err != nil {
		return "", err
	}
	var beside []kv.Op
	for _, op := range more {
		beside = append(beside, op(draft.Draft))
	}
	err = h.store.Contexts.Write(ctx, h.fence, appcontext.Context{
		ID: draft.Draft, Meta: meta, Objects: objects, CreateOnly: h.owner == Prerequisites,
	}, beside...)
	switch intent.CodeOf(err) {
	case appcontext.ErrStale, intent.Unavailable:
		return "", lost(err)
	}
	return draft.Draft, err
}

// replace has objects take the place of what rsync has.
func (h *handed) replace(ctx context.Context, wanted bundle.Bundle, meta appcontext.Meta) error {
	objects, err := renamed(wanted)
	if err != nil {
		return err
	}
	var more []func(string) kv.Op
	if first := h.record.First; first != "" {
		more = append(more, func(id string) kv.Op { return emco.StatusesIn(id, first) })
	}
	id, err := h.write(ctx, objects, meta, more...)
	if err != nil {
		return err
	}
	next := h.record
	next.Draft, next.Before, next.Context = "", h.record.Context, id
	next.Former = former(next.Former, next.Before)
	next.Level, next.Namespace = meta.Level, meta.Namespace
	next.First = cmp.Or(next.First, id)
	if err := h.commit(ctx, next, nil); err != nil {
		return err
	}
	h.before, h.given = h.given, objects
	return nil
}

// withdraw has rsync take away what it has.
func (h *handed) withdraw(ctx context.Context) error {
	next := h.record
	next.Before, next.Context = h.record.Context, ""
	next.Former = former(next.Former, next.Before)
	if err := h.commit(ctx, next, nil); err != nil {
		return err
	}
	h.before, h.given = h.given, nil
	return nil
}

// bury has what is left of an earlier context deleted. rsync deletes only what it
// believes to have: it is told that it has it. Objects that it could not delete so may be
// gone; they are made again, and deleted then.
func (h *handed) bury(ctx context.Context, left bundle.Bundle, again bool) error {
	meta := appcontext.Meta{Level: h.record.Level, Namespace: h.record.Namespace, ChildContextIDs: []string{}}
	var more []func(string) kv.Op
	if !again {
		more = append(more, emco.Installed)
	}
	id, err := h.write(ctx, left, meta, more...)
	if err != nil {
		return err
	}
	next := h.record
	next.Draft, next.Rest = "", id
	next.Spent = spend(next.Spent, h.record.Rest)
	if err := h.commit(ctx, next, nil); err != nil {
		return err
	}
	h.rest = left
	return nil
}

// done drops what was before.
func (h *handed) done(ctx context.Context) error {
	next := h.record
	next.Before, next.Rest = "", ""
	next.Spent = spend(next.Spent, h.record.Rest)
	if h.record.Before != next.First {
		next.Spent = spend(next.Spent, h.record.Before)
	}
	if next.Context == "" {
		next.Spent, next.First = spend(next.Spent, next.First), ""
	}
	if err := h.commit(ctx, next, nil); err != nil {
		return err
	}
	h.before, h.rest = nil, nil
	return nil
}

// keptFormer is how many earlier contexts are remembered by their ids.
const keptFormer = 100

func former(ids []string, id string) []string {
	ids = spend(ids, id)
	return ids[max(0, len(ids)-keptFormer):]
}

// spend adds what is there and is not in spent already.
func spend(spent []string, ids ...string) []string {
	spent = slices.Clone(spent)
	for _, id := range ids {
		if id != "" && !slices.Contains(spent, id) {
			spent = append(spent, id)
		}
	}
	return spent
}

// clear removes the contexts that rsync is done with.
func (h *handed) clear(ctx context.Context) error {
	for _, id := range slices.Clone(h.record.Spent) {
		next := h.record
		next.Spent = slices.DeleteFunc(slices.Clone(next.Spent), func(other string) bool { return other == id })
		if err := h.commit(ctx, next, []kv.Compare{emco.Resting(id)}, kv.DeletePrefix(contextKey(id))); err != nil {
			return err
		}
	}
	return nil
}

// longestApp is how long the name of an app may be: rsync makes a label of it
// and the context's id.
const longestApp = 43

// renamed gives apps names that rsync takes.
func renamed(objects bundle.Bundle) (bundle.Bundle, error) {
	out := slices.Clone(objects)
	for i, o := range out {
		if len(o.App) > longestApp {
			sum := sha256.Sum256([]byte(o.App))
			const digits = 8
			out[i].App = o.App[:longestApp-digits-1] + "-" + hex.EncodeToString(sum[:])[:digits]
		}
		if o.App == "" {
			return nil, errors.New(o.ID.String() + " belongs to no app")
		}
	}
	return out, nil
}
