package draft

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// cursorVersion begins a cursor, before the last name of a page, so that the form of
// cursors can change.
const cursorVersion = "1"

// Cursor is the Continue of a page that ends with name.
func Cursor(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorVersion + name))
}

// After is the name after which a page begins, empty for the first one.
// Invalid when Continue is not one that Cursor made for this list.
func After(options intent.ListOptions) (string, error) {
	if options.Limit < 0 {
		return "", &intent.Error{Code: intent.Invalid, Detail: "the limit of a list is not negative"}
	}
	if options.Collection == "" || hasEmptySegment(options.Collection) {
		return "", &intent.Error{Code: intent.Invalid, Detail: "a list needs a collection"}
	}
	if options.Continue == "" {
		return options.After, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(options.Continue)
	name, _ := strings.CutPrefix(string(raw), cursorVersion)
	if err != nil || name == "" || Cursor(name) != options.Continue || !strings.HasPrefix(name, options.NamePrefix) || !utf8.ValidString(name) {
		return "", &intent.Error{Code: intent.Invalid, Detail: "continue is not one that this list has answered: leave it out to begin again"}
	}
	return name, nil
}

// Full tells whether a page with so many items takes no further one, with which
// they would have so many bytes.
func Full(options intent.ListOptions, items int, bytes int64) bool {
	return items > 0 && (items == options.Limit || options.Bytes > 0 && bytes > int64(options.Bytes))
}
