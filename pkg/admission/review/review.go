// Package review has the shared parts of the checks of all kinds of documents. These are
// the review that collects faults, the documents and rules that checks ask, and the names
// that Kubernetes allows.
package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Review collects what is said about one document while it is judged.
type Review struct {
	Path      intent.Path
	Body      []byte           // as it was sent
	Old       *intent.Document // that it replaces, nil for none
	invalid   []intent.Field   // wrong in itself
	conflicts []intent.Field   // forbidden by other documents
	refs      []intent.Path
	secrets   []taken
	Claim     *Claim
}

// taken is a secret value on its way from a spec to its seal.
type taken struct {
	field string
	value []byte
	set   func(id string)
}

// Refusef notes what is wrong with the body itself.
func (r *Review) Refusef(at Pointer, format string, args ...any) {
	r.invalid = append(r.invalid, intent.Field{Pointer: string(at), Detail: fmt.Sprintf(format, args...)})
}

// Conflictf notes what other documents forbid.
func (r *Review) Conflictf(at Pointer, format string, args ...any) {
	r.conflicts = append(r.conflicts, intent.Field{Pointer: string(at), Detail: fmt.Sprintf(format, args...)})
}

// Refer notes that the document needs another one.
func (r *Review) Refer(to intent.Path) {
	if !slices.Contains(r.refs, to) {
		r.refs = append(r.refs, to)
	}
}

// Keep notes that the document still uses a sealed value.
func (r *Review) Keep(id string) { r.Refer(sealed(id)) }

// Take notes a secret value that must not be stored as it is.
func (r *Review) Take(field Pointer, value []byte, set func(id string)) {
	r.secrets = append(r.secrets, taken{field: string(field), value: value, set: set})
}

// Project is the name of the project that the document belongs to.
func (r *Review) Project() string { return r.Path.Segment("projects") }

// Name checks the name of the body against the path's.
func (r *Review) Name(name string) {
	const at Pointer = "/metadata/name"
	if !IsLabelValue(name) {
		r.Refusef(at, "%s is not a name; use at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit", Quote(name))
		return
	}
	want, _, _ := strings.Cut(r.Path.Name(), "/") // a composite app's version is in its spec
	if name != want {
		r.Refusef(at, "is %s, but the path names %s", Quote(name), Quote(want))
	}
}

// Verdict is the error that the findings amount to, nil for none.
func (r *Review) Verdict() error {
	switch {
	case len(r.invalid) > 0:
		return &intent.Error{Code: intent.Invalid, Detail: string(r.Path) + " is not valid", Fields: slices.Concat(r.invalid, r.conflicts)}
	case len(r.conflicts) > 0:
		return &intent.Error{Code: intent.Conflict, Detail: string(r.Path) + " conflicts with other documents", Fields: r.conflicts}
	}
	return nil
}

// Write is what the review leads to.
func (r *Review) Write(metadata intent.Metadata, spec any, old *intent.Document) *Write {
	if parent := r.Path.Parent(); parent != "" {
		r.Refer(parent)
	}
	w := &Write{
		Path: r.Path, Refs: r.refs, Condition: intent.IfAbsent(),
		metadata: intent.Metadata{
			Name: metadata.Name, Description: metadata.Description,
			UserData1: metadata.UserData1, UserData2: metadata.UserData2,
		},
		spec: spec, Claim: r.Claim,
	}
	if old != nil {
		w.Condition = intent.IfRevision(old.Revision)
	}
	for _, t := range r.secrets {
		w.Secrets = append(w.Secrets, Secret{Field: t.field, Value: t.value, Set: func(id string) {
			t.set(id)
			w.Refs = append(w.Refs, sealed(id))
		}})
	}
	return w
}

// sealed is the document of a sealed value.
func sealed(id string) intent.Path { return intent.Join(intent.SecretCollection, id) }

// ErrNoResource is the error for a path of no resource.
func ErrNoResource(path intent.Path) error {
	return &intent.Error{Code: intent.NotFound, Detail: "there is no resource at " + Quote(string(path))}
}

// ErrNoJSON tells where a body does not fit the shape of its resource.
func ErrNoJSON(err error) error {
	at := ""
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		at = "/" + strings.ReplaceAll(wrong.Field, ".", "/")
	}
	return &intent.Error{
		Code: intent.Invalid, Detail: "the body cannot be read",
		Fields: []intent.Field{{Pointer: at, Detail: err.Error()}},
	}
}

// Oddities collects warnings.
type Oddities struct{ List []intent.Warning }

// Warn adds a warning about a parameter, once.
func (w *Oddities) Warn(parameter, format string, args ...any) {
	warning := intent.Warning{Parameter: parameter, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(w.List, warning) {
		w.List = append(w.List, warning)
	}
}

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
