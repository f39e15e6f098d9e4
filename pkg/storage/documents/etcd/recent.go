package etcd

import (
	"bytes"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Bounds of what is remembered.
const (
	recentDocuments = 1024    // more than a controller reads for the names that it steps at once
	recentBytes     = 8 << 10 // larger documents are read again
)

// decoded is a document as an item has it. It is remembered, so that readers of the same item need not decode it again, and
// a write which follows need not read it again. The write compares etcd's revision of it, and so an outdated memory costs a
// request and nothing else. Values are compared, too: revisions come twice if etcd was restored from a backup.
func (s *Store) decoded(item kv.Item) (reading, error) {
	path := pathOf(item.Key)
	if known, is := s.recent.Get(path); is && known.item.ModRevision == item.ModRevision && bytes.Equal(known.item.Value, item.Value) {
		return known, nil
	}
	doc, write, err := decode(item)
	found := reading{path: path, item: &item, doc: doc, write: write}
	if err == nil && len(item.Value) <= recentBytes {
		s.recent.Keep(path, found, recentDocuments)
	}
	return found, err
}

// presumed is a document as it probably is, if the condition of a write holds for it. A
// write on the condition that there is no document presumes that there is none.
func (s *Store) presumed(path intent.Path, condition intent.Condition) (reading, bool) {
	if condition == intent.IfAbsent() {
		return reading{path: path}, true
	}
	found, known := s.recent.Get(path)
	return found, known && condition == intent.IfRevision(found.doc.Revision)
}
