package state

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Contexts reads app contexts.
type Contexts interface {
	// ObjectsOn answers the objects of the pointer's context for a cluster, and the
	// revision they were read at. It fails when the pointer has moved.
	ObjectsOn(ctx context.Context, p appcontext.Pointer, cluster string) (bundle.Bundle, int64, error)

	// Together returns a context in which ObjectsOn of several pointers costs one request.
	Together(ctx context.Context, pointers []appcontext.Pointer, cluster string) (_ context.Context, end func(), err error)
}

// Wanted is an object that current contexts hold for a cluster.
type Wanted struct {
	Object bundle.Object // without Published, but for one that has probes
	Digest string
	Stages ledger.Decision // when its content came to be decided; zero: it is not known
	Trace  string          // the trace, as traceparent, in which it got its content; empty for none

	Labelled *bundle.Object // as it is handed over to rsync; nil: it was not yet
	Marks    cluster.Marks
	Owners   []string // the senior first, whose content this is
	dispute  *dispute // nil: all of Owners want the same
}

// dispute is about an object of which owners want different contents.
type dispute struct {
	losing  []string
	message string
}

// Losing are those of Owners whose content differs from the senior's.
func (w *Wanted) Losing() []string {
	if w.dispute == nil {
		return nil
	}
	return w.dispute.losing
}

// Message is about the losing owners, empty if there are none.
func (w *Wanted) Message() string {
	if w.dispute == nil {
		return ""
	}
	return w.dispute.message
}

// Publishes is what the object publishes, if it is a DNSEndpoint of Signpost's; nil: it is none.
func (w *Wanted) Publishes() *bundle.Published {
	return w.Object.PublishesAs(bundle.Head{Labels: w.Marks.Labels, Annotations: w.Marks.Annotations})
}

// Shared tells whether the object is somebody else's, in which keys are ours.
func (w *Wanted) Shared() bool { return w.Marks.Annotations[bundle.AnnotationKeys] == bundle.OwnKeys }

// share is what one owner wants in the cluster, as of a revision of the store.
type share struct {
	owner     [1]string // the Owners of its objects
	contextID string
	seq       int64              // of the pointer
	verify    *appcontext.Verify // how its names are verified
	revision  int64
	objects   held
}

// held are the objects of one owner, ordered by ID. There are very many owners with one object, for which a map would take
// several times the memory.
type held []Wanted

// get answers an object, nil if it is none of them.
func (h held) get(id bundle.ID) *Wanted {
	at, found := sort.Find(len(h), func(n int) int { return bundle.Compare(id, h[n].Object.ID) })
	if !found {
		return nil
	}
	return &h[at]
}

// isOf tells whether a share holds what a pointer says.
func (s *share) isOf(p appcontext.Pointer) bool {
	return s != nil && s.contextID == p.ContextID && s.seq == p.Seq && p.Revision() <= s.revision
}

// Desired is the union of what all owners want in one cluster. Shares of which
// nothing has changed are not read again.
type Desired struct {
	cluster  *Cluster
	contexts Contexts
	shares   map[appcontext.Owner]*share
	objects  map[bundle.ID]*Wanted
	few      map[bundle.ID]bool // those of objects that are no DNSEndpoints, of which there may be very many
	moved    int64              // how often the cluster had moved when the shares were read
	changes  int64              // how often shares have changed
	alike    alike
}

// staleAttempts is how often a pointer may move while its context is read.
const staleAttempts = 5

// NewDesired makes a Desired that has read nothing yet.
func NewDesired(of *Cluster, contexts Contexts) *Desired {
	return &Desired{cluster: of, contexts: contexts, moved: -1}
}

// Objects answers all objects that are wanted. The caller must not change the map.
func (d *Desired) Objects() map[bundle.ID]*Wanted { return d.objects }

// Object answers an object that is wanted, nil for one that is not.
func (d *Desired) Object(id bundle.ID) *Wanted { return d.objects[id] }

// Has tells whether an object is wanted.
func (d *Desired) Has(id bundle.ID) bool { return d.objects[id] != nil }

// objectOf answers what an owner wants an object to be, nil if the owner does not want it.
func (d *Desired) objectOf(owner appcontext.Owner, id bundle.ID) *Wanted {
	if of := d.shares[owner]; of != nil {
		return of.objects.get(id)
	}
	return nil
}

// Context answers the id of the context that an owner's objects were read from, empty for none.
func (d *Desired) Context(owner string) string {
	if of := d.shares[appcontext.Owner(owner)]; of != nil {
		return of.contextID
	}
	return ""
}

// verify answers how the names of an owner are verified, nil if they are not.
func (d *Desired) verify(owner string) *appcontext.Verify {
	if of := d.shares[appcontext.Owner(owner)]; of != nil {
		return of.verify
	}
	return nil
}

// Load brings the union up to the current pointers. It fails, and changes nothing,
// unless every owner's objects could be read. Otherwise an object might be deleted that
// is wanted. The entries tell who came first. Only owners that have changed are read, and
// only their objects are merged anew.
func (d *Desired) Load(ctx context.Context, entries map[bundle.ID]ledger.Entry) error {
	x := d.cluster.Index
	for attempt := 1; ; attempt++ {
		pointers, moved, all := x.Since(d.cluster.Name, d.moved)
		changed, err := d.read(ctx, pointers)
		if err == nil {
			if all {
				d.leave(pointers, changed)
			}
			d.merge(changed, entries)
			d.moved = moved
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

// leave adds the owners that are not among all pointers of the cluster any more.
func (d *Desired) leave(all []appcontext.Pointer, changed map[appcontext.Owner]*share) {
	listed := make(map[appcontext.Owner]bool, len(all))
	for _, p := range all {
		listed[p.Owner] = true
	}
	for owner := range d.shares {
		if !listed[owner] {
			changed[owner] = &share{}
		}
	}
}

// merge replaces the shares of owners that have changed, and merges the objects that they
// had and have. A share without a pointer to a context goes.
func (d *Desired) merge(changed map[appcontext.Owner]*share, entries map[bundle.ID]ledger.Entry) {
	d.changes += int64(len(changed))
	if d.objects == nil {
		d.shares, d.objects = make(map[appcontext.Owner]*share, len(changed)), map[bundle.ID]*Wanted{}
		d.few = map[bundle.ID]bool{}
	}
	owners := d.concerned(changed)
	for owner, next := range changed {
		if next.contextID == "" {
			delete(d.shares, owner)
		} else {
			d.shares[owner] = next
		}
		for n := range next.objects {
			want := &next.objects[n] // nobody else has it yet
			want.shareWith(entries[want.Object.ID])
			if id := want.Object.ID; !slices.Contains(owners[id], string(owner)) {
				owners[id] = append(owners[id], string(owner))
			}
		}
	}
	for id, all := range owners {
		d.cluster.Agenda.Add(id)
		d.cluster.stale.asked.Add(id)
		d.cluster.stale.applied.Add(id)
		all = slices.DeleteFunc(all, func(owner string) bool { return d.objectOf(appcontext.Owner(owner), id) == nil })
		if len(all) == 0 {
			delete(d.objects, id)
			delete(d.few, id)
			continue
		}
		slices.Sort(all)
		want := d.union(id, all, entries)
		d.objects[want.Object.ID] = want // by the text that it has
		if !id.IsEndpoint() {
			d.few[id] = true
		}
	}
}

// concerned are the objects that changed owners have or had, each with the owners that it
// had.
func (d *Desired) concerned(changed map[appcontext.Owner]*share) map[bundle.ID][]string {
	owners := map[bundle.ID][]string{}
	add := func(objects held) {
		for n := range objects {
			id := objects[n].Object.ID
			if _, known := owners[id]; known {
				continue
			}
			owners[id] = nil
			if was := d.objects[id]; was != nil {
				owners[id] = slices.Clone(was.Owners)
			}
		}
	}
	for owner, next := range changed {
		if before := d.shares[owner]; before != nil {
			add(before.objects)
		}
		add(next.objects)
	}
	return owners
}

// readAtOnce is how many owners are read in one request.
const readAtOnce = 32

// read reads the objects of owners that have changed. An owner that has left the cluster
// has an empty share.
func (d *Desired) read(ctx context.Context, pointers []appcontext.Pointer) (map[appcontext.Owner]*share, error) {
	shares := map[appcontext.Owner]*share{}
	var changed []appcontext.Pointer
	for _, p := range pointers {
		switch {
		case d.shares[p.Owner].isOf(p):
		case p.ContextID == "":
			shares[p.Owner] = &share{}
		default:
			changed = append(changed, p)
		}
	}
	for some := range slices.Chunk(changed, readAtOnce) {
		if err := d.readTogether(ctx, some, shares); err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// readTogether reads the objects of some owners.
func (d *Desired) readTogether(ctx context.Context, pointers []appcontext.Pointer, shares map[appcontext.Owner]*share) error {
	if len(pointers) > 1 {
		together, end, err := d.contexts.Together(ctx, pointers, d.cluster.Name)
		defer end()
		if err != nil {
			return fmt.Errorf("read the desired state of %d owners: %w", len(pointers), err)
		}
		ctx = together
	}
	for _, p := range pointers {
		objects, revision, err := d.contexts.ObjectsOn(ctx, p, d.cluster.Name)
		if err == nil {
			shares[p.Owner], err = d.shareOf(p, objects, revision)
		}
		if err != nil {
			return fmt.Errorf("read the desired state of %s: %w", p.Owner, err)
		}
	}
	return nil
}

// shareOf is what a pointer's objects are for its owner.
func (d *Desired) shareOf(p appcontext.Pointer, objects bundle.Bundle, revision int64) (*share, error) {
	s := &share{owner: [1]string{string(p.Owner)}, contextID: p.ContextID, seq: p.Seq, verify: p.Verify, revision: revision, objects: make(held, len(objects))}
	for n, o := range objects {
		marks, err := cluster.MarksOf(o, d.cluster.Installation)
		if err != nil {
			return nil, err
		}
		marks = d.alike.share(marks)
		if o.Published != nil && len(o.Published.Probes) == 0 {
			o.Published = nil // it is read again when it is asked for: there may be very many names
		}
		want := &s.objects[n]
		*want = Wanted{Object: o.Short(), Digest: o.Digest(), Marks: marks, Owners: s.owner[:]}
		want.follow(d.objectOf(p.Owner, o.ID), p)
	}
	slices.SortFunc(s.objects, func(a, b Wanted) int { return bundle.Compare(a.Object.ID, b.Object.ID) })
	return s, nil
}

// shareWith has an object use the texts of its entry in the ledger, if there is one.
func (w *Wanted) shareWith(e ledger.Entry) {
	if w.Object.ID == e.ID {
		w.Object.ID = e.ID
	}
	if w.Digest == e.Digest {
		w.Digest = e.Digest
	}
}

// follow notes what an object follows from, given how it was before and the
// pointer to what it is now.
func (w *Wanted) follow(before *Wanted, p appcontext.Pointer) {
	switch {
	case before == nil:
		w.Stages, w.Trace = ledger.DecisionOf(intent.Stages{Decided: p.Stages().Decided}), p.Trail()
	case before.Digest == w.Digest:
		w.Trace = before.Trace
	default:
		w.Stages, w.Trace = ledger.DecisionOf(p.Stages()), p.Trail()
	}
}

// union merges what all owners of an object, ordered, want of it. If they differ, the
// senior's content counts, and the others are told. An object that one owner alone wants
// is not copied: there may be very many of them.
func (d *Desired) union(id bundle.ID, all []string, entries map[bundle.ID]ledger.Entry) *Wanted {
	if len(all) == 1 {
		return d.objectOf(appcontext.Owner(all[0]), id)
	}
	bySeniority(all, entries[id].Owners)
	w := *d.objectOf(appcontext.Owner(all[0]), id)
	w.Owners = all
	var losing []string
	for _, owner := range all[1:] {
		if !bytes.Equal(w.Object.JSON, d.objectOf(appcontext.Owner(owner), id).Object.JSON) {
			losing = append(losing, owner)
		}
	}
	if len(losing) > 0 {
		w.dispute = &dispute{losing, differing(all[0], losing)}
	}
	return &w
}

// bySeniority puts those who had the object before in front, as they were. Thus nobody
// who comes later takes an object over while they hold it.
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
	if slices.ContainsFunc(losing, func(owner string) bool { return appcontext.Owner(owner).Project() != project }) {
		return "several projects want different contents: that of the one that came first is applied"
	}
	return fmt.Sprintf("%s and %s want different contents: that of %s, which came first, is applied", senior, losing[0], senior)
}

// HandedOver is the object that is handed over to rsync, the zero one if Label has not made it.
func (w *Wanted) HandedOver() bundle.Object {
	if w.Labelled == nil {
		return bundle.Object{}
	}
	return *w.Labelled
}

// Label makes the object that is handed over to rsync, with the labels by which the
// watches find what is Signpost's.
func (w *Wanted) Label() error {
	if w.Labelled != nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(w.Object.JSON))
	decoder.UseNumber() // of any size
	var content map[string]any
	if err := decoder.Decode(&content); err != nil {
		return err
	}
	metadata, _ := content["metadata"].(map[string]any)
	metadata["labels"] = w.Marks.All()
	raw, err := json.Marshal(content)
	if err == nil {
		var labelled bundle.Object
		labelled, err = bundle.Parse(w.Object.Cluster, w.Object.App, raw)
		labelled = labelled.Short()
		w.Labelled = &labelled
	}
	return err
}
