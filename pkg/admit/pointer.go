package admit

import (
	"strconv"
	"strings"
)

// pointer is a JSON pointer (RFC 6901) into a body.
type pointer string

// spec points to the body's spec.
const spec pointer = "/spec"

// key points to a member of the object that p points to.
func (p pointer) key(name string) pointer {
	return p + "/" + pointer(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// index points to an item of the list that p points to.
func (p pointer) index(i int) pointer { return p + "/" + pointer(strconv.Itoa(i)) }

// quote shows a value in a message, shortened to what a reader needs.
func quote(text string) string {
	const longest = 64
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strconv.Quote(text)
}
