package syncer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/index"
)

// wanted is an object that current contexts hold for a cluster.
type wanted struct {
	object bundle.Object
	digest string
	cause  time.Time // when the observation was made that its content follows from, UTC; zero: not known

	since time.Time // when the context was made current that has its content, UTC; zero: it follows from something else
	trace string    // the trace, as traceparent, in which it got its content; empty for none

	labelled bundle.Object // as it is handed over to rsync; without JSON: it was not yet
	shared   bool          // it is somebody else's, in which keys are ours
	marks    cluster.Marks
	owners   []string // the senior first, whose content this is
	losing   []string // those of owners whose content differs from the senior's
	message  string   // about the losing ones
}

// share is what one owner wants in the cluster, as of a revision of the store.
type share struct {
	pointer  appcontext.Pointer
	revision int64
	objects  map[bundle.ID]*wanted
}

// isOf tells whether a share holds what a pointer says.
func (s share) isOf(p appcontext.Pointer) bool {
	return s.pointer.ContextID == p.ContextID && s.pointer.Seq == p.Seq && p.Revision() <= s.revision
}

// desired is the union of what all owners want in one cluster. Shares of which
// nothing has changed are not read again.
type desired struct {
	shares  map[appcontext.Owner]share
	objects map[bundle.ID]*wanted
}

// staleAttempts is how often a pointer may move while its context is read.
const staleAttempts = 5

// load brings the union up to the current pointers. It fails, and changes
// nothing, unless every owner's objects could be read: what is not known to be
// unwanted must not be deleted. entries tell who came first.
func (d *desired) load(ctx context.Context, x *index.Index, contexts Contexts, name, installation string, entries map[bundle.ID]ledger.Entry) error {
	for attempt := 1; ; attempt++ {
		shares, changed, err := d.read(ctx, x.Pointers(name), contexts, name, installation)
		if err == nil {
			if changed || d.objects == nil {
				d.shares, d.objects = shares, union(shares, entries)
			}
			return nil
		}
		if attempt == staleAttempts {
			return err
		}
		if _, refreshed := x.Refresh(ctx); refreshed != nil {
			return refreshed
		}
	}
}

func (d *desired) read(ctx context.Context, pointers []appcontext.Pointer, contexts Contexts, name, installation string) (map[appcontext.Owner]share, bool, error) {
	shares := map[appcontext.Owner]share{}
	changed := len(pointers) != len(d.shares)
	for _, p := range pointers {
		if before, ok := d.shares[p.Owner]; ok && before.isOf(p) {
			shares[p.Owner] = before
			continue
		}
		changed = true
		objects, revision, err := contexts.ObjectsOn(ctx, p, name)
		if err != nil {
			return nil, false, fmt.Errorf("read the desired state of %s: %w", p.Owner, err)
		}
		s := share{pointer: p, revision: revision, objects: make(map[bundle.ID]*wanted, len(objects))}
		alone, alike := []string{string(p.Owner)}, map[string]cluster.Marks{}
		for _, o := range objects {
			marks, err := cluster.MarksOf(o, installation)
			if err != nil {
				return nil, false, fmt.Errorf("read the desired state of %s: %w", p.Owner, err)
			}
			if known, ok := alike[o.App]; ok && known.Equal(marks) {
				marks = known // the objects of an app mostly have the same
			}
			alike[o.App] = marks
			s.objects[o.ID] = &wanted{object: o, digest: o.Digest(), shared: o.Shared(), marks: marks, owners: alone}
			before := d.shares[p.Owner].objects[o.ID]
			s.objects[o.ID].follow(before, p)
		}
		shares[p.Owner] = s
	}
	return shares, changed, nil
}

// follow notes what an object follows from, given how it was before and the
// pointer to what it is now.
func (w *wanted) follow(before *wanted, p appcontext.Pointer) {
	switch {
	case before == nil:
		w.since, w.trace = p.MadeCurrent(), p.Trail()
	case before.digest == w.digest:
		w.trace = before.trace
	default:
		w.cause, w.since, w.trace = p.Cause(), p.MadeCurrent(), p.Trail()
	}
}

// union merges the shares. Where owners differ on an object, the senior's
// content counts, and the others are told. What one owner alone wants is the share's
// own: there may be very many of them.
func union(shares map[appcontext.Owner]share, entries map[bundle.ID]ledger.Entry) map[bundle.ID]*wanted {
	owners := map[bundle.ID][]string{}
	for _, owner := range slices.Sorted(maps.Keys(shares)) {
		for id := range shares[owner].objects {
			owners[id] = append(owners[id], string(owner))
		}
	}
	out := make(map[bundle.ID]*wanted, len(owners))
	for id, all := range owners {
		if len(all) == 1 {
			out[id] = shares[appcontext.Owner(all[0])].objects[id]
			continue
		}
		bySeniority(all, entries[id].Owners)
		w := *shares[appcontext.Owner(all[0])].objects[id]
		w.owners = all
		for _, owner := range all[1:] {
			if !bytes.Equal(w.object.JSON, shares[appcontext.Owner(owner)].objects[id].object.JSON) {
				w.losing = append(w.losing, owner)
			}
		}
		w.message = differing(all[0], w.losing)
		out[id] = &w
	}
	return out
}

// bySeniority puts those who had the object before in front, as they were, so
// that nobody who comes later takes an object over while they hold it.
func bySeniority(owners, before []string) {
	rank := func(owner string) int {
		if at := slices.Index(before, owner); at >= 0 {
			return at
		}
		return len(before)
	}
	slices.SortStableFunc(owners, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
}

// differing tells owners that they want different contents. All of them read
// it: it names nobody to another project.
func differing(senior string, losing []string) string {
	project := appcontext.Owner(senior).Project()
	switch {
	case len(losing) == 0:
		return ""
	case slices.ContainsFunc(losing, func(owner string) bool { return appcontext.Owner(owner).Project() != project }):
		return "several projects want different contents: that of the one that came first is applied"
	}
	return fmt.Sprintf("%s and %s want different contents: that of %s, which came first, is applied", senior, losing[0], senior)
}
