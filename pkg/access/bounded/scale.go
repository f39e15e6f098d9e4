package bounded

// These bound the memory that decoding makes of JSON, in bytes. A few characters of
// a list may become a Kubernetes struct each, even if they are null or of the wrong type.
const (
	perByte    = 2    // the text, and the strings that are cut out of it
	perMember  = 100  // of an object
	perObject  = 320  // a map
	perElement = 1024 // of a list
	deepest    = 256  // lists and objects in each other
)

// scale weighs JSON before it is decoded, as it comes. The weight of what is no
// JSON is that of its bytes, or more.
type scale struct {
	weight          int64 // so far, or since the last document ended
	quoted, escaped bool
	depth           int
	lists           [deepest]bool // else an object, by depth
}

// Weigh estimates how much memory a JSON text takes when it is decoded, in bytes. If
// lists and objects are nested too deeply, the result is more than any memory.
func Weigh(text []byte) int64 {
	const unknown = 1 << 50
	var s scale
	weight, err := s.add(text, false)
	if err != nil {
		return unknown
	}
	return weight
}

// add weighs text, and answers the most that one document has weighed in it. If
// it is part of a stream, each document is weighed by itself.
func (s *scale) add(text []byte, stream bool) (heaviest int64, err error) {
	from := 0
	for at := 0; at < len(text); at++ {
		if s.quoted {
			at = s.unquote(text, at)
			continue
		}
		ended, err := s.see(text[at])
		if err != nil {
			return 0, err
		}
		if ended && stream {
			heaviest = max(heaviest, s.weight+perByte*int64(at-from))
			s.weight, from = 0, at
		}
	}
	s.weight += perByte * int64(len(text)-from)
	return max(heaviest, s.weight), nil
}

// unquote skips what is quoted, and answers where that has ended: at the other quote,
// or with the text.
func (s *scale) unquote(text []byte, at int) int {
	for ; at < len(text); at++ {
		switch {
		case s.escaped:
			s.escaped = false
		case text[at] == '\\':
			s.escaped = true
		case text[at] == '"':
			s.quoted = false
			return at
		}
	}
	return at
}

// see weighs a character that is not quoted, and tells whether a document has ended
// with it.
func (s *scale) see(c byte) (ended bool, err error) {
	switch c {
	case '"':
		s.quoted = true
	case '{', '[':
		return false, s.enter(c == '[')
	case '}', ']':
		if s.depth > 0 {
			s.depth--
			return s.depth == 0, nil
		}
	case ',':
		if s.depth > 0 && s.lists[s.depth-1] {
			s.weight += perElement
		} else {
			s.weight += perMember
		}
	}
	return false, nil
}

// enter begins a list, which may have an element, or an object.
func (s *scale) enter(list bool) error {
	if s.depth == deepest {
		return &Excess{"the answer nests too many lists and objects"}
	}
	s.lists[s.depth] = list
	s.depth++
	if list {
		s.weight += perElement
	} else {
		s.weight += perObject + perMember
	}
	return nil
}
