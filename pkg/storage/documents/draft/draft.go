// Package draft has what the stores share: the checks of a write, its effect on the
// stored document, and the cursors of pages.
package draft

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// maxRefs is how many documents one document may refer to.
const maxRefs = 2000

// Draft is a write whose shape was checked.
type Draft struct {
	Path      intent.Path
	Refs      []intent.Path // in order, without duplicates
	Body      []byte        // JSON without white space around it
	Condition intent.Condition
	Schema    int // from 1
}

// Of checks a write: Invalid for a path, reference or body that no document
// may have, TooLarge for a body above intent.MaxBody.
func Of(write intent.Write) (Draft, error) {
	if err := CheckPath(write.Path); err != nil {
		return Draft{}, err
	}
	if len(write.Body) > intent.MaxBody {
		return Draft{}, &intent.Error{Code: intent.TooLarge, Detail: fmt.Sprintf("the body of %s has %d bytes, at most %d are kept", write.Path, len(write.Body), intent.MaxBody)}
	}
	if !utf8.Valid(write.Body) || !json.Valid(write.Body) {
		return Draft{}, &intent.Error{Code: intent.Invalid, Detail: "the body of " + string(write.Path) + " is not JSON in UTF-8"}
	}
	refs := slices.Clone(write.Refs)
	slices.Sort(refs)
	refs = slices.Compact(refs)
	if len(refs) > maxRefs {
		return Draft{}, &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("%s refers to %d documents, at most %d are possible", write.Path, len(refs), maxRefs)}
	}
	for _, ref := range refs {
		if err := CheckPath(ref); err != nil {
			return Draft{}, err
		}
		if ref == write.Path {
			return Draft{}, &intent.Error{Code: intent.Invalid, Detail: string(ref) + " cannot refer to itself"}
		}
	}
	return Draft{Path: write.Path, Refs: refs, Body: bytes.TrimSpace(write.Body), Condition: write.Condition, Schema: max(write.Schema, 1)}, nil
}

// CheckPath refuses what is not the path of a document: an empty segment, a
// collection without a name, or what is no text.
func CheckPath(path intent.Path) error {
	collection, name := path.Split()
	if collection == "" || name == "" || hasEmptySegment(string(path)) || !utf8.ValidString(string(path)) || strings.ContainsRune(string(path), 0) {
		return &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("%q is not the path of a document", string(path))}
	}
	return nil
}

func hasEmptySegment(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") || strings.Contains(path, "//")
}

// Next is the document that the draft makes of the current one, nil when
// there is none, and whether that is a change. A current one that needs a newer
// schema version than is known stays as it is: the error of intent.CheckSchema.
func (d Draft) Next(current *intent.Document, now time.Time, random io.Reader) (intent.Document, bool, error) {
	now = now.UTC().Truncate(time.Millisecond)
	next := intent.Document{Path: d.Path, Revision: 1, CreatedAt: now, UpdatedAt: now, Refs: d.Refs, Body: d.Body, Schema: d.Schema}
	if current == nil {
		uid, err := NewID(random)
		next.UID = uid
		return next, true, err
	}
	if bytes.Equal(current.Body, d.Body) && slices.Equal(current.Refs, d.Refs) {
		return *current, false, nil
	}
	if err := intent.CheckSchema(string(d.Path), current.Schema); err != nil {
		return intent.Document{}, false, err
	}
	next.UID, next.CreatedAt, next.Revision = current.UID, current.CreatedAt, current.Revision+1
	if now.Before(current.UpdatedAt) {
		next.UpdatedAt = current.UpdatedAt // clocks may go back, documents don't
	}
	return next, true, nil
}

// NewID is a random identity: 32 hexadecimal digits from random, or from the
// system's generator when random is nil.
func NewID(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw an identity: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// NewMark is a random identity of a write, which is compared with that of the write before or
// behind it: 12 letters, digits, - and _.
func NewMark(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	var b [9]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw the mark of a write: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// Diff is what is in next and not in previous, and the other way round. Both
// are in order.
func Diff(previous, next []intent.Path) (added, removed []intent.Path) {
	for _, ref := range next {
		if _, found := slices.BinarySearch(previous, ref); !found {
			added = append(added, ref)
		}
	}
	for _, ref := range previous {
		if _, found := slices.BinarySearch(next, ref); !found {
			removed = append(removed, ref)
		}
	}
	return added, removed
}

// MissingReference says that from may not be stored because of to.
func MissingReference(from, to intent.Path) error {
	return &intent.Error{
		Code:   intent.Conflict,
		Detail: string(from) + " cannot be stored",
		Err:    &intent.MissingReference{From: from, To: to},
	}
}

// Referenced says that path may not be deleted because of by.
func Referenced(path intent.Path, by []intent.Path) error {
	return &intent.Error{
		Code:   intent.Conflict,
		Detail: string(path) + " cannot be deleted",
		Err:    &intent.Referenced{Path: path, By: by},
	}
}

// Unknown says that the outcome of a write to path could not be found out.
func Unknown(path intent.Path, cause error) error {
	return &intent.Error{
		Code:   intent.Unavailable,
		Detail: "it is not known whether " + string(path) + " was written: read it again",
		Err:    cause,
	}
}

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
