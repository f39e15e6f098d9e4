package bundle

import (
	"bytes"
	"hash/maphash"
)

// Sharing keeps one copy of what several objects hold, as those of an app on a
// hundred clusters. Nobody may change it.
type Sharing struct {
	seed  maphash.Seed
	known map[uint64][]byte
	size  int
}

// NewSharing has seen nothing yet.
func NewSharing() *Sharing {
	return &Sharing{seed: maphash.MakeSeed(), known: map[uint64][]byte{}}
}

// Share gives the objects the JSON of those before them where it is the same.
func (s *Sharing) Share(objects ...Object) []Object {
	for n, o := range objects {
		hash := maphash.Bytes(s.seed, o.JSON)
		if known, ok := s.known[hash]; ok && bytes.Equal(known, o.JSON) {
			objects[n].JSON = known
			continue
		}
		s.known[hash] = o.JSON
		s.size += len(o.JSON)
	}
	return objects
}

// Size is how many bytes of JSON there are, each copy counted once.
func (s *Sharing) Size() int { return s.size }
