package failover

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// markPrefix begins the names of documents that say which failovers have not ended.
const markPrefix = "failover-"

func recordPath(id string) intent.Path { return intent.Join(intent.FailoverCollection, id) }

// IsMark tells the documents that say which failovers have not ended.
func IsMark(path intent.Path) bool {
	return path.Collection() == intent.OperationCollection && strings.HasPrefix(path.Name(), markPrefix)
}

func markPath(id string) intent.Path { return intent.Join(intent.OperationCollection, markPrefix+id) }

// Failover returns the record of a failover; NotFound if there is none.
func (m *Mover) Failover(ctx context.Context, id string) (intent.FailoverRecord, error) {
	r, _, err := m.read(ctx, id)
	if err != nil || r.Ended == nil {
		return r, err
	}
	list, err := m.DrainedClusters(ctx)
	r.Undone = undone(r, list)
	return r, err
}

// undone tells who undrained clusters that a failover has drained, ordered by cluster. The list of drained clusters
// remembers that for a day.
func undone(r intent.FailoverRecord, list state.DrainedList) []intent.FailoverUndone {
	all := slices.Clone(r.Undone)
	for cluster, was := range list.Undrains() {
		known := slices.ContainsFunc(all, func(u intent.FailoverUndone) bool { return u.Cluster == cluster })
		if was.Failover == r.ID && !known {
			all = append(all, intent.FailoverUndone{Cluster: cluster, Drained: *was.Undrained})
		}
	}
	// A revert may be noted before the record knows that it is one.
	all = slices.DeleteFunc(all, func(u intent.FailoverUndone) bool { return u.Failover != "" && u.Failover == r.RevertedBy })
	slices.SortFunc(all, func(a, b intent.FailoverUndone) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return all
}

// NoteUndone notes in the records of failovers who undrained their clusters.
func (m *Mover) NoteUndone(ctx context.Context) error {
	list, err := m.DrainedClusters(ctx)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, was := range list.Undrains() {
		ids[was.Failover] = was.Failover != ""
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if !ids[id] {
			continue
		}
		r, _, one := m.read(ctx, id)
		if one == nil && r.Ended != nil && len(undone(r, list)) != len(r.Undone) {
			one = m.change(ctx, id, func(of *intent.FailoverRecord) { of.Undone = undone(*of, list) })
		}
		if intent.CodeOf(one) != intent.NotFound {
			err = errors.Join(err, one)
		}
	}
	return err
}

func (m *Mover) read(ctx context.Context, id string) (r intent.FailoverRecord, revision int64, err error) {
	doc, err := m.Documents.Get(ctx, recordPath(id))
	if err != nil {
		return r, 0, err
	}
	r, err = decode(doc)
	return r, doc.Revision, err
}

// decode reads a record, and counts the host names of an older one, which has no counts of them.
func decode(doc intent.Document) (r intent.FailoverRecord, err error) {
	err = json.Unmarshal(doc.Body, &r)
	if r.Hosts == (intent.FailoverHosts{}) {
		r.Hosts = hostsOf(r.Names)
	}
	return r, err
}

// Failovers returns a page of the records, the oldest first, without their names. Invalid for
// a wrong after.
func (m *Mover) Failovers(ctx context.Context, limit int, after string) (intent.FailoverPage, error) {
	page := intent.FailoverPage{Items: []intent.FailoverRecord{}}
	docs, err := m.Documents.List(ctx, intent.ListOptions{Collection: intent.FailoverCollection, Limit: limit, Bytes: intent.PageBytes, Continue: after})
	if err != nil {
		return page, err
	}
	list, err := m.DrainedClusters(ctx)
	page.Continue = docs.Continue
	for _, doc := range docs.Items {
		r, err := decode(doc)
		if err != nil {
			return page, err
		}
		if r.Names = []intent.FailoverName{}; r.Ended != nil {
			r.Undone = undone(r, list)
		}
		page.Items = append(page.Items, r)
	}
	return page, err
}

// marks are the documents of the failovers that have not ended.
func (m *Mover) marks(ctx context.Context) ([]intent.Document, error) {
	page, err := m.Documents.List(ctx, intent.ListOptions{Collection: intent.OperationCollection, NamePrefix: markPrefix})
	return page.Items, err
}

func idOf(mark intent.Document) string { return strings.TrimPrefix(mark.Path.Name(), markPrefix) }

func (m *Mover) change(ctx context.Context, id string, edit func(*intent.FailoverRecord)) error {
	_, err := state.RetryOnConflict(ctx, recordPath(id), func(ctx context.Context) (struct{}, error) {
		r, revision, err := m.read(ctx, id)
		if err != nil {
			return struct{}{}, err
		}
		edit(&r)
		_, err = state.SwapDocument(ctx, m.Documents, r, intent.Write{Path: recordPath(id)}, revision)
		return struct{}{}, err
	})
	return err
}
