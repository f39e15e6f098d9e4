package apply

import (
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// operation is what is done about an object.
type operation string

const (
	nothing operation = ""
	await   operation = "await"  // nothing now: what is under way must end first
	create  operation = "create" // make it; when it exists, look whose it is
	apply   operation = "apply"  // give the version that was seen the content
	remove  operation = "remove" // delete it if it is ours, and confirm that it is gone
	forget  operation = "forget" // drop its entry without a request
)

// action is an operation with what it is based on.
type action struct {
	operation operation
	id        bundle.ID
	want      *state.Wanted   // nil when the object is to go
	at        cluster.Version // for apply
	live      *cluster.Live   // what was seen of it, nil when it was not
	drift     bool            // it was right once, and somebody changed it
	why       string          // for the log
}

// decide tells what to do about one object. Without a wish want is nil, without an entry
// in the ledger entry is nil, and sight is what the watches see. It is pure.
//
//	wanted  ledger          seen                     operation
//	------  --------------  -----------------------  ------------------------
//	yes     nothing         –                        create
//	yes     shared, or not  –                        when it is the other now: as if it were not wanted, to begin anew
//	yes     not ours, used  –                        nothing; create when the content changed
//	yes     never applied   –                        create
//	yes     applied         unknown                  nothing; apply when the content changed
//	yes     applied         absent                   create (drift)
//	yes     applied         being deleted            await
//	yes     other content   there                    apply
//	yes     applied         same version             nothing
//	yes     applied         same generation, marks   nothing
//	yes     applied         anything else            apply (drift)
//	no      not ours, used  –                        forget
//	no      definition      –                        forget: it is never deleted
//	no      shared          –                        remove: our keys in it
//	no      ours            being deleted            await
//	no      ours            –                        remove
func decide(id bundle.ID, want *state.Wanted, entry *ledger.Entry, sight cluster.Sight) action {
	a := action{id: id, want: want, live: sight.Live}
	switch {
	case want == nil && entry == nil:
		return a
	case want == nil:
		return a.unwanted(*entry)
	case entry == nil:
		return a.do(create, "new")
	case entry.Shared != want.Shared():
		a.want = nil
		return a.unwanted(*entry)
	case state.IsForeign(*entry):
		if entry.Digest != want.Digest {
			return a.do(create, "changed")
		}
		return a
	case entry.UID == "":
		return a.do(create, "new")
	case !sight.Known:
		return a.unseen(*entry)
	}
	return a.seen(*entry)
}

func (a action) do(d operation, why string) action {
	a.operation, a.why = d, why
	return a
}

func (a action) unwanted(entry ledger.Entry) action {
	switch {
	case entry.Shared:
		return a.do(remove, "not wanted any more")
	case state.IsForeign(entry):
		return a.do(forget, "not ours")
	case cluster.IsDefinition(cluster.KindOf(a.id)):
		return a.do(forget, "definitions are never deleted")
	case a.live != nil && a.live.Deleting:
		return a.do(await, "being deleted")
	}
	return a.do(remove, "not wanted any more")
}

func (a action) unseen(entry ledger.Entry) action {
	a.at = cluster.Version{UID: entry.UID, ResourceVersion: entry.ResourceVersion}
	switch {
	case entry.Digest != a.want.Digest:
		return a.do(apply, "changed")
	case entry.Status != ledger.Applied:
		return a.do(apply, "again")
	}
	return a
}

func (a action) seen(entry ledger.Entry) action {
	same := entry.Digest == a.want.Digest
	if a.live == nil {
		a.drift = same && entry.Status == ledger.Applied
		return a.do(create, "missing")
	}
	a.at = a.live.Version
	unedited := a.live.Generation != 0 && a.live.Generation == entry.Generation && a.want.Marks.Intact(*a.live)
	switch {
	case a.live.Deleting:
		return a.do(await, "being deleted")
	case !same:
		return a.do(apply, "changed")
	case entry.Status != ledger.Applied:
		return a.do(apply, "again")
	case a.live.UID != entry.UID:
		a.drift = true
		return a.do(apply, "replaced")
	case a.live.ResourceVersion == entry.ResourceVersion, unedited:
		return a
	}
	a.drift = true
	return a.do(apply, "edited")
}
