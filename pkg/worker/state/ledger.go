package state

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Ledger keeps, in memory, the entries that the ledger has for one cluster. Flush stores
// what has changed. It is for a single goroutine at a time; several may read it while
// none changes it.
type Ledger struct {
	cluster *Cluster
	store   *ledger.Ledger
	entries map[bundle.ID]ledger.Entry
	dirty   map[bundle.ID]bool // entries that the store does not have yet, or still has
	foreign map[bundle.ID]bool // the entries of others' objects
	few     map[bundle.ID]bool // the entries of all but DNSEndpoints, of which there may be very many
	count   map[ledger.Status]int
	kinds   map[cluster.Kind]int // how many entries there are of objects that are not others'
	changes int64                // how often entries have changed
	turns   int64                // how often entries came, went, or became or ceased to be others'
}

// NewLedger makes a Ledger without entries.
func NewLedger(of *Cluster, store *ledger.Ledger) *Ledger {
	return &Ledger{
		cluster: of, store: store, entries: map[bundle.ID]ledger.Entry{}, dirty: map[bundle.ID]bool{}, foreign: map[bundle.ID]bool{},
		few: map[bundle.ID]bool{}, count: map[ledger.Status]int{}, kinds: map[cluster.Kind]int{},
	}
}

// Load reads the entries.
func (l *Ledger) Load(ctx context.Context) error {
	entries, err := l.store.Cluster(ctx, l.cluster.Name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		l.put(e)
		l.cluster.stale.asked.Add(e.ID)
	}
	l.turns++
	l.cluster.Agenda.AddAll()
	return nil
}

// Entries answers all entries. The caller must not change the map.
func (l *Ledger) Entries() map[bundle.ID]ledger.Entry { return l.entries }

// Foreign answers the entries of objects that were there before Signpost, and are used. The
// caller must not change the map.
func (l *Ledger) Foreign() map[bundle.ID]bool { return l.foreign }

// put takes an entry up, in place of the one that is there.
func (l *Ledger) put(e ledger.Entry) {
	l.remove(e.ID)
	l.entries[e.ID] = e
	l.count[e.Status]++
	if IsForeign(e) {
		l.foreign[e.ID] = true
	} else {
		l.kinds[cluster.KindOf(e.ID)]++
	}
	if !e.ID.IsEndpoint() {
		l.few[e.ID] = true
	}
}

// remove takes an entry away, if there is one.
func (l *Ledger) remove(id bundle.ID) {
	if before, known := l.entries[id]; known {
		l.count[before.Status]--
		if kind := cluster.KindOf(id); !IsForeign(before) {
			l.kinds[kind]--
			if l.kinds[kind] == 0 {
				delete(l.kinds, kind)
			}
		}
	}
	delete(l.entries, id)
	delete(l.foreign, id)
	delete(l.few, id)
	l.changes++
	l.cluster.Agenda.Add(id)
	l.cluster.stale.applied.Add(id)
}

// Empty tells whether there are no entries, neither here nor in the store.
func (l *Ledger) Empty() bool { return len(l.entries) == 0 && len(l.dirty) == 0 }

// Set changes an entry in memory, and remembers to store it.
func (l *Ledger) Set(e ledger.Entry) {
	before, known := l.entries[e.ID]
	if known && before.Equal(e) {
		return
	}
	if !known || before.Status != e.Status || before.Digest != e.Digest {
		e.Since = l.cluster.Clock.Now().UTC()
		if e.Stages != nil && e.Stages != before.Stages {
			e.Since = e.Stages.Times().Written
		}
	}
	turned := !known || IsForeign(before) != IsForeign(e)
	if turned {
		l.turns++
	}
	if turned || !before.Written(before.Digest).Equal(e.Written(e.Digest)) {
		l.cluster.stale.asked.Add(e.ID)
	}
	l.put(e)
	l.dirty[e.ID] = true
}

// Drop removes an entry from memory, and remembers to remove it from the store.
func (l *Ledger) Drop(id bundle.ID) {
	l.remove(id)
	l.dirty[id] = true
	l.turns++
	l.cluster.stale.asked.Add(id)
}

// Flush stores what has changed. After an error, the next Flush tries again.
func (l *Ledger) Flush(ctx context.Context) error {
	if len(l.dirty) == 0 {
		return nil
	}
	var put []ledger.Entry
	var remove []bundle.ID
	for _, id := range slices.SortedFunc(maps.Keys(l.dirty), bundle.Compare) {
		if e, ok := l.entries[id]; ok {
			put = append(put, e)
		} else {
			remove = append(remove, id)
		}
	}
	if err := l.store.Write(ctx, l.cluster.Fence, put, remove); err != nil {
		return err
	}
	l.cluster.Metrics.Entries(l.count)
	clear(l.dirty)
	return nil
}

// Own fails unless the cluster is this worker's.
func (l *Ledger) Own(ctx context.Context) error { return l.store.Own(ctx, l.cluster.Fence) }

// Identity answers the identity of the cluster that the entries speak of, empty
// for none yet.
func (l *Ledger) Identity(ctx context.Context) (string, error) {
	return l.store.Identity(ctx, l.cluster.Name)
}

// Adopt notes which cluster the entries speak of.
func (l *Ledger) Adopt(ctx context.Context, uid string) error {
	return l.store.Adopt(ctx, l.cluster.Fence, l.cluster.Name, uid)
}

// Reset removes all entries, and notes which cluster later ones speak of.
func (l *Ledger) Reset(ctx context.Context, uid string) error {
	if err := l.store.Reset(ctx, l.cluster.Fence, l.cluster.Name, uid); err != nil {
		return err
	}
	for id := range l.entries {
		l.cluster.stale.asked.Add(id)
		l.cluster.stale.applied.Add(id)
	}
	for _, all := range []map[bundle.ID]bool{l.dirty, l.foreign, l.few} {
		clear(all)
	}
	clear(l.entries)
	clear(l.count)
	clear(l.kinds)
	l.changes++
	l.turns++
	l.cluster.Agenda.AddAll()
	return nil
}

// ours lists the objects of a kind of workloads that Signpost made, as
// "namespace/name" in order.
func (l *Ledger) ours(kind cluster.Kind) []string {
	var names []string
	for id := range l.few {
		if cluster.KindOf(id) == kind && l.entries[id].CreatedByUs {
			names = append(names, id.Namespace+"/"+id.Name)
		}
	}
	slices.Sort(names)
	return names
}

// IsForeign tells entries of objects that were there before Signpost, and are used.
func IsForeign(e ledger.Entry) bool { return e.Status == ledger.Applied && !e.CreatedByUs }
