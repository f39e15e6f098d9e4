package nameindex

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// The rhythm of a Feed.
const (
	listenEvery = 5 * time.Second  // the stores are asked whether they answer
	scanEvery   = 10 * time.Second // all lifecycles are looked at, if the store of documents does not tell of changes
	retryEvery  = time.Second      // before a Feed that failed begins again
)

// Feed fills an Index, and keeps it up to date.
type Feed struct {
	*state.Store
	Index *Index

	// Watch tells which documents of a collection change; nil: the store of documents
	// cannot, and lifecycles are listed every ten seconds.
	Watch func(ctx context.Context, collection string, from int64) <-chan intent.Changed

	revisions map[intent.Path]int64 // of the lifecycles in the Index, without Watch
}

// errLost is why a Feed begins again.
var errLost = errors.New("the history of changes is missing")

// Run feeds the Index until ctx ends, beginning again when that fails.
func (f *Feed) Run(ctx context.Context) error {
	for {
		if err := f.follow(ctx); err != nil && ctx.Err() == nil {
			f.Logger.WarnContext(ctx, "the index of names is filled again", "reason", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryEvery):
		}
	}
}

// followed are the sources of an Index.
type followed struct {
	lifecycles <-chan intent.Changed // nil: they are listed
	ledgers    <-chan ledger.Changes
	sightings  <-chan observed.Sightings
}

// follow fills the Index and follows the changes since it began to.
func (f *Feed) follow(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end() // nobody would read what is watched any more
	began := f.Now()
	_, revision, err := f.KV.Get(ctx, state.ReleasePrefix)
	if err != nil {
		return err
	}
	all := followed{ledgers: f.Ledger.Watch(ctx, revision+1), sightings: f.Observed.WatchSightings(ctx, revision+1)}
	if f.Watch != nil {
		all.lifecycles = f.Watch(ctx, intent.LifecycleCollection, revision+1)
	}
	full, err := f.fill(ctx)
	if err != nil {
		return err
	}
	f.Index.replace(full, revision, began)
	if all.lifecycles == nil {
		f.listed(began)
	}
	return f.listen(ctx, all)
}

// fill reads everything, page by page.
func (f *Feed) fill(ctx context.Context) (*tables, error) {
	t := newTables()
	f.Index.fills(0)
	if err := f.Observed.EachSighting(ctx, t.see); err != nil {
		return nil, err
	}
	if err := f.Ledger.Each(ctx, t.take); err != nil {
		return nil, err
	}
	f.revisions = map[intent.Path]int64{}
	read := 0
	err := f.eachPage(ctx, false, func(docs []intent.Document) error {
		owners, err := f.read(ctx, docs)
		for _, o := range owners {
			o.apply(t)
		}
		read += len(docs)
		f.Index.fills(read)
		return err
	})
	t.settle()
	return t, err
}

// readAtOnce is of how many lifecycles the releases are read together.
const readAtOnce = 100

// eachPage visits the lifecycles, or their paths only, some at a time.
func (f *Feed) eachPage(ctx context.Context, pathsOnly bool, visit func([]intent.Document) error) error {
	options := intent.ListOptions{Collection: intent.LifecycleCollection, Limit: intent.PageItems, Bytes: intent.PageBytes, PathsOnly: pathsOnly}
	for {
		next, err := f.Documents.List(ctx, options)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(next.Items, readAtOnce) {
			if err := visit(some); err != nil {
				return err
			}
		}
		if options.Continue = next.Continue; options.Continue == "" {
			return nil
		}
	}
}

// listen takes up changes until one is missing.
func (f *Feed) listen(ctx context.Context, all followed) error {
	asking, scanning := time.NewTicker(listenEvery), time.NewTicker(scanEvery)
	defer asking.Stop()
	defer scanning.Stop()
	if all.lifecycles != nil {
		scanning.Stop()
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case c := <-all.ledgers:
			if err = lost(c.Lost); err == nil {
				f.Index.change(func(t *tables) { each(c.Entries, t.take) })
				f.Index.reach(ofLedgers, c.Revision, f.Now())
			}
		case c := <-all.sightings:
			if err = lost(c.Lost); err == nil {
				f.Index.change(func(t *tables) { each(c.Seen, t.see) })
				f.Index.reach(ofSightings, c.Revision, f.Now())
			}
		case c := <-all.lifecycles:
			if err = lost(c.Lost); err == nil {
				err = f.takePaths(ctx, c)
			}
		case <-scanning.C:
			began := f.Now()
			if err = f.scan(ctx); err == nil {
				f.listed(began)
			}
		case <-asking.C:
			f.ask(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func lost(is bool) error {
	if is {
		return errLost
	}
	return nil
}

func each[T any](all []T, visit func(T)) {
	for _, one := range all {
		visit(one)
	}
}

// ask notes that the store answers. If it has changed, the sources have to tell how far they have come: an answer
// does not prove that they have delivered everything. If it rests, they have nothing to tell.
func (f *Feed) ask(ctx context.Context) {
	at := f.Now()
	if _, revision, err := f.KV.Get(ctx, state.ReleasePrefix); err == nil {
		f.Index.rest(revision, at)
	}
}

// listed notes when lifecycles were last listed. They are at no revision of etcd, so that this is the others'.
func (f *Feed) listed(at time.Time) { f.Index.reach(ofLifecycles, math.MaxInt64, at) }

// scan takes up the lifecycles that have changed since they were last listed. It reads no others: MongoDB lists
// revisions without bodies. A store that lists neither has all of them read.
func (f *Feed) scan(ctx context.Context) error {
	there := map[intent.Path]bool{}
	err := f.eachPage(ctx, true, func(listed []intent.Document) error {
		var changed []intent.Path
		for _, doc := range listed {
			there[doc.Path] = true
			if doc.Revision == 0 || f.revisions[doc.Path] != doc.Revision {
				changed = append(changed, doc.Path)
			}
		}
		if len(changed) == 0 {
			return nil
		}
		docs, err := f.Documents.GetAll(ctx, changed)
		if err != nil {
			return err
		}
		return f.takeDocuments(ctx, docs)
	})
	if err != nil {
		return err
	}
	f.Index.change(func(t *tables) {
		for path := range f.revisions {
			if !there[path] {
				delete(f.revisions, path)
				t.forgetOwner(state.OwnerOf(path))
			}
		}
	})
	return nil
}

// takePaths takes up lifecycles that were written or deleted.
func (f *Feed) takePaths(ctx context.Context, c intent.Changed) error {
	docs, err := f.written(ctx, c)
	if err != nil {
		return err
	}
	there := map[intent.Path]bool{}
	for _, doc := range docs {
		there[doc.Path] = true
	}
	f.Index.change(func(t *tables) {
		for _, path := range c.Paths {
			if !there[path] {
				t.forgetOwner(state.OwnerOf(path))
			}
		}
	})
	if err := f.takeDocuments(ctx, docs); err != nil {
		return err
	}
	f.Index.reach(ofLifecycles, c.Revision, f.Now())
	return nil
}

// written are the documents of a change that are there: as they were told, or as they are.
func (f *Feed) written(ctx context.Context, c intent.Changed) ([]intent.Document, error) {
	if len(c.Documents) != len(c.Paths) {
		return f.Documents.GetAll(ctx, c.Paths)
	}
	last := map[intent.Path]intent.Document{}
	for n, path := range c.Paths {
		last[path] = c.Documents[n]
	}
	var docs []intent.Document
	for _, path := range slices.Sorted(maps.Keys(last)) {
		if last[path].Revision > 0 {
			docs = append(docs, last[path])
		}
	}
	return docs, nil
}

// takeDocuments takes up lifecycles as they are.
func (f *Feed) takeDocuments(ctx context.Context, docs []intent.Document) error {
	owners, err := f.read(ctx, docs)
	if err != nil {
		return err
	}
	f.Index.change(func(t *tables) {
		for _, o := range owners {
			o.apply(t)
		}
	})
	return nil
}

// reading is what was read of an owner.
type reading struct {
	path      intent.Path
	lifecycle state.Lifecycle
	release   state.Release
}

// read decodes lifecycles and reads the releases that they point to. A lifecycle whose
// release is gone has changed again, and comes back.
func (f *Feed) read(ctx context.Context, docs []intent.Document) ([]reading, error) {
	var owners []reading
	var ids []string
	for _, doc := range docs {
		if f.Watch == nil {
			f.revisions[doc.Path] = doc.Revision
		}
		owner := state.OwnerOf(doc.Path)
		if state.IsRecord(owner) || state.IsCloud(owner) {
			continue
		}
		lifecycle, err := state.ReadLifecycle(doc)
		if err != nil {
			f.Logger.WarnContext(ctx, "a lifecycle is damaged", "owner", owner, "error", err)
			continue
		}
		r := reading{path: owner, lifecycle: lifecycle}
		owners = append(owners, r)
		if r.named() {
			ids = append(ids, r.lifecycle.ContextID)
		}
	}
	releases, err := f.LoadReleases(ctx, ids)
	for n := range owners {
		owners[n].release = releases[owners[n].lifecycle.ContextID]
	}
	return owners, err
}

// named tells whether an owner publishes names, or did and is not yet gone.
func (r *reading) named() bool {
	return r.lifecycle.Seq > 0 && r.lifecycle.State() != intent.Terminated
}

func (r *reading) apply(t *tables) {
	t.keep(r)
	if !r.named() {
		t.remove(r.path)
		return
	}
	t.put(r.path, &r.lifecycle, r.lifecycle.Placed(r.release.Group))
}
