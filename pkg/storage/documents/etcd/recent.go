package etcd

import (
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Bounds of what is remembered.
const (
	recentDocuments = 128
	recentBytes     = 16 << 10 // larger documents are read again
)

// remember keeps a document that was read, so that a write which follows need not read it
// again. The write compares etcd's revision of it, and so an outdated memory costs a request
// and nothing else.
func (s *Store) remember(found reading) {
	if len(found.item.Value) <= recentBytes {
		s.recent.Keep(found.path, found, recentDocuments)
	}
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
