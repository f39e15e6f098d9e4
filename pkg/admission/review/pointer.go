package review

import (
	"strconv"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901) into a body.
type Pointer string

// Spec points to the body's spec.
const Spec Pointer = "/spec"

// Key points to a member of the object that p points to.
func (p Pointer) Key(name string) Pointer {
	return p + "/" + Pointer(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// Index points to an item of the list that p points to.
func (p Pointer) Index(i int) Pointer { return p + "/" + Pointer(strconv.Itoa(i)) }

// Quote shows a value in a message, shortened to what a reader needs.
func Quote(text string) string {
	const longest = 64
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strconv.Quote(text)
}
