package etcd

import (
	"bytes"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Bounds of what is remembered.
const (
	recentDocuments = 1024    // more than a controller reads for the names that it steps at once
	recentBytes     = 8 << 10 // of larger documents, few are remembered
	recentLarge     = 8       // such as the lifecycle of a provider that very many names leave at once: each of their steps reads it
)

// decoded is a document as an item has it. It is remembered, so that readers of the same item need not decode it again. A
// write which follows need not read it again, unless it is large. The write compares etcd's revision of it, and so an outdated memory costs a
// request and nothing else. Values are compared, too: revisions come twice if etcd was restored from a backup.
func (s *Store) decoded(item kv.Item) (reading, error) {
	path, memory, most := pathOf(item.Key), &s.recent, recentDocuments
	if len(item.Value) > recentBytes {
		memory, most = &s.large, recentLarge
	}
	if known, is := memory.Get(path); is && known.item.ModRevision == item.ModRevision && bytes.Equal(known.item.Value, item.Value) {
		return known, nil
	}
	doc, write, err := decode(item)
	found := reading{path: path, item: &item, doc: doc, write: write}
	if err == nil {
		memory.Keep(path, found, most)
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
