package bundle

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// canonical is the canonical form of what json.Marshal has written: keys sorted, no status, no
// null creationTimestamp. It sorts the text itself, without decoding it, which costs much less.
// A text that decoding might change is not sorted: decoded reads it instead.
func canonical(marshalled []byte) ([]byte, bool) {
	if !plainly(marshalled) {
		return nil, false
	}
	s := sorter{from: marshalled, out: make([]byte, 0, len(marshalled))}
	s.value(true)
	return s.out, !s.twice
}

// plainly tells whether a text is an object whose strings are written as json.Marshal writes
// them. A json.RawMessage inside might have other escapes.
func plainly(text []byte) bool {
	if len(text) == 0 || text[0] != '{' || !utf8.Valid(text) {
		return false
	}
	for rest := text; ; {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 {
			return true
		}
		rest = rest[at+1:]
		switch rest[0] {
		case '"', '\\', 'n', 'r', 't':
		case 'u':
			if code := string(rest[:5]); code != "u003c" && code != "u003e" && code != "u0026" {
				return false
			}
		default:
			return false
		}
		rest = rest[1:]
	}
}

// sorter writes a compact JSON text again, with sorted keys.
type sorter struct {
	from    []byte // what is not read yet
	out     []byte
	members []member // of the objects that it is in
	scratch []byte
	twice   bool // an object has a key twice, or one with an escape
}

// member is one of an object: where its key, and all of it, stand in what is written.
type member struct{ begin, key, end int }

func (s *sorter) value(whole bool) {
	switch s.from[0] {
	case '{':
		s.object(whole)
	case '[':
		s.array()
	default:
		s.take(scalar(s.from))
	}
}

// take writes the next n bytes.
func (s *sorter) take(n int) {
	s.out = append(s.out, s.from[:n]...)
	s.from = s.from[n:]
}

// scalar is the length of the string, number or word that a text begins with.
func scalar(text []byte) int {
	if text[0] != '"' {
		if end := bytes.IndexAny(text, ",]}"); end >= 0 {
			return end
		}
		return len(text)
	}
	for at := 1; ; at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
}

func (s *sorter) array() {
	s.take(1)
	for s.from[0] != ']' {
		if s.from[0] == ',' {
			s.take(1)
		}
		s.value(false)
	}
	s.take(1)
}

func (s *sorter) object(whole bool) {
	s.take(1)
	first, begin := len(s.members), len(s.out)
	for s.from[0] != '}' {
		if s.from[0] == ',' {
			s.from = s.from[1:]
		}
		m := member{begin: len(s.out)}
		s.take(scalar(s.from))
		m.key = len(s.out)
		s.take(1)
		s.value(false)
		m.end = len(s.out)
		if s.drops(m, whole) {
			s.out = s.out[:m.begin]
			continue
		}
		s.members = append(s.members, m)
	}
	s.sort(s.members[first:], begin)
	s.members = s.members[:first]
	s.take(1)
}

// drops tells whether a member does not belong to the canonical form.
func (s *sorter) drops(m member, whole bool) bool {
	switch key := s.out[m.begin:m.key]; string(key) {
	case `"status"`:
		return whole
	case `"creationTimestamp"`:
		return string(s.out[m.key:m.end]) == ":null"
	default:
		s.twice = s.twice || bytes.IndexByte(key, '\\') >= 0
		return false
	}
}

// sort writes members again, from begin on, in the order of their keys.
func (s *sorter) sort(members []member, begin int) {
	s.scratch = append(s.scratch[:0], s.out[begin:]...)
	name := func(m member) []byte { return s.scratch[m.begin-begin+1 : m.key-begin-1] }
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(name(a), name(b)) })
	s.out = s.out[:begin]
	for n, m := range members {
		if n > 0 {
			s.out = append(s.out, ',')
			s.twice = s.twice || bytes.Equal(name(members[n-1]), name(m))
		}
		s.out = append(s.out, s.scratch[m.begin-begin:m.end-begin]...)
	}
}

// field is the value of a canonical object's field, nil if it has none.
func field(canonical []byte, name string) json.RawMessage {
	rest := canonical[1:]
	for rest[0] != '}' {
		if rest[0] == ',' {
			rest = rest[1:]
		}
		key := rest[:scalar(rest)]
		rest = rest[len(key)+1:]
		value := rest[:length(rest)]
		if string(key[1:len(key)-1]) == name {
			return value
		}
		rest = rest[len(value):]
	}
	return nil
}

// length is that of the value that a text begins with.
func length(text []byte) int {
	depth := 0
	for at := 0; ; {
		switch text[at] {
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':':
			at++
		default:
			at += scalar(text[at:])
		}
		if depth == 0 {
			return at
		}
	}
}
