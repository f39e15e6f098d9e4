package recent

import (
	"strings"
	"sync"
)

// Bounds of the texts that are kept.
const (
	mostTexts = 4096
	longText  = 256 // bytes; longer texts hardly repeat
)

// Texts makes equal texts share their memory. There may be very many owners, whose documents repeat the names of a few
// clusters and projects. All texts are forgotten when there are too many. The zero value has none. It is safe for
// concurrent use.
type Texts struct {
	mu sync.Mutex
	of map[string]string
}

// Shared answers a text that equals this one.
func (t *Texts) Shared(text string) string {
	if text == "" || len(text) > longText {
		return text
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if kept, known := t.of[text]; known {
		return kept
	}
	if t.of == nil || len(t.of) >= mostTexts {
		t.of = map[string]string{}
	}
	text = strings.Clone(text) // it may be a part of a large one
	t.of[text] = text
	return text
}

// All answers texts that equal these, in a slice of their own.
func (t *Texts) All(texts []string) []string {
	if texts == nil {
		return nil
	}
	all := make([]string, len(texts))
	for n, text := range texts {
		all[n] = t.Shared(text)
	}
	return all
}

// Join has texts that belong together lie in one piece of memory. They leave what they were parts of.
func Join(texts ...*string) {
	var all strings.Builder
	size := 0
	for _, text := range texts {
		size += len(*text)
	}
	all.Grow(size)
	for _, text := range texts {
		all.WriteString(*text)
	}
	whole := all.String()
	for _, text := range texts {
		*text, whole = whole[:len(*text)], whole[len(*text):]
	}
}

// Len is how many texts are kept.
func (t *Texts) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of)
}
