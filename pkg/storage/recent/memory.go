// Package recent remembers a number of values in memory. It is for what may be forgotten,
// and for what its users can tell to be outdated.
package recent

import (
	"slices"
	"sync"
)

// Memory remembers values by their keys, and forgets the one whose keeping was longest ago.
// The zero value is empty. It is safe for concurrent use.
type Memory[Key comparable, Value any] struct {
	mu    sync.Mutex
	of    map[Key]Value
	order []Key // the keys of the map, the oldest first
}

// Keep remembers a value among at most so many.
func (m *Memory[Key, Value]) Keep(key Key, value Value, most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[Key]Value{}
	}
	m.forget(key)
	if len(m.order) == most {
		delete(m.of, m.order[0])
		m.order = m.order[1:]
	}
	m.of[key], m.order = value, append(m.order, key)
}

// Get answers the value of a key, if it is remembered.
func (m *Memory[Key, Value]) Get(key Key) (Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, known := m.of[key]
	return value, known
}

// Forget drops the value of a key.
func (m *Memory[Key, Value]) Forget(key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(key)
}

func (m *Memory[Key, Value]) forget(key Key) {
	if _, known := m.of[key]; known {
		delete(m.of, key)
		m.order = slices.DeleteFunc(m.order, func(other Key) bool { return other == key })
	}
}
