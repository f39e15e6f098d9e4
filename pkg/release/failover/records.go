package failover

import (
	"context"
	"encoding/json"
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
	return r, err
}

func (m *Mover) read(ctx context.Context, id string) (r intent.FailoverRecord, revision int64, err error) {
	doc, err := m.Documents.Get(ctx, recordPath(id))
	if err != nil {
		return r, 0, err
	}
	err = json.Unmarshal(doc.Body, &r)
	return r, doc.Revision, err
}

// Failovers returns a page of the records, the oldest first, without their names. Invalid for
// a wrong after.
func (m *Mover) Failovers(ctx context.Context, limit int, after string) (intent.FailoverPage, error) {
	page := intent.FailoverPage{Items: []intent.FailoverRecord{}}
	docs, err := m.Documents.List(ctx, intent.ListOptions{Collection: intent.FailoverCollection, Limit: limit, Bytes: intent.PageBytes, Continue: after})
	page.Continue = docs.Continue
	for _, doc := range docs.Items {
		var r intent.FailoverRecord
		if err := json.Unmarshal(doc.Body, &r); err != nil {
			return page, err
		}
		r.Names = []intent.FailoverName{}
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
	_, err := state.RetryOnConflict(recordPath(id), func() (struct{}, error) {
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
