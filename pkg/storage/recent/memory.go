// Package recent remembers a number of values in memory. It is for what may be forgotten,
// and for what its users can tell to be outdated.
package recent

import (
	"slices"
	"sync"
)

// Memory remembers values by their keys, and forgets the one whose keeping was longest ago.
// The zero value is empty. It is safe for concurrent use. The cost of a call does not follow
// how much is remembered.
type Memory[Key comparable, Value any] struct {
	mu    sync.Mutex
	turn  uint64 // of the last keeping
	of    map[Key]kept[Value]
	order []keeping[Key] // the oldest first; those of earlier turns of a key count no more
}

type kept[Value any] struct {
	value Value
	turn  uint64
}

type keeping[Key comparable] struct {
	key  Key
	turn uint64
}

// Keep remembers a value among at most so many.
func (m *Memory[Key, Value]) Keep(key Key, value Value, most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[Key]kept[Value]{}
	}
	m.turn++
	m.of[key] = kept[Value]{value, m.turn}
	m.order = append(m.order, keeping[Key]{key, m.turn})
	for len(m.of) > most {
		if oldest := m.order[0]; m.counts(oldest) {
			delete(m.of, oldest.key)
		}
		m.order = m.order[1:]
	}
	m.tidy()
}

// counts tells whether a keeping is the last one of its key.
func (m *Memory[Key, Value]) counts(k keeping[Key]) bool {
	last, known := m.of[k.key]
	return known && last.turn == k.turn
}

// tidy drops the keepings that count no more once they are the greater part.
func (m *Memory[Key, Value]) tidy() {
	const few = 16
	if len(m.order) > 2*len(m.of)+few {
		m.order = slices.DeleteFunc(m.order, func(k keeping[Key]) bool { return !m.counts(k) })
	}
}

// Get answers the value of a key, if it is remembered.
func (m *Memory[Key, Value]) Get(key Key) (Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, known := m.of[key]
	return found.value, known
}

// Forget drops the value of a key.
func (m *Memory[Key, Value]) Forget(key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, key)
	m.tidy()
}
