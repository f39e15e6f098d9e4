package admit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// review collects what is said about one document while it is judged.
type review struct {
	path      intent.Path
	body      []byte           // as it was sent
	old       *intent.Document // that it replaces, nil for none
	invalid   []intent.Field   // wrong in itself
	conflicts []intent.Field   // forbidden by other documents
	refs      []intent.Path
	secrets   []taken
	claim     *claim
}

// taken is a secret value on its way from a spec to its seal.
type taken struct {
	field string
	value []byte
	set   func(id string)
}

// refusef notes what is wrong with the body itself.
func (r *review) refusef(at pointer, format string, args ...any) {
	r.invalid = append(r.invalid, intent.Field{Pointer: string(at), Detail: fmt.Sprintf(format, args...)})
}

// conflictf notes what other documents forbid.
func (r *review) conflictf(at pointer, format string, args ...any) {
	r.conflicts = append(r.conflicts, intent.Field{Pointer: string(at), Detail: fmt.Sprintf(format, args...)})
}

// refer notes that the document needs another one.
func (r *review) refer(to intent.Path) {
	if !slices.Contains(r.refs, to) {
		r.refs = append(r.refs, to)
	}
}

// keep notes that the document still uses a sealed value.
func (r *review) keep(id string) { r.refer(sealed(id)) }

// take notes a secret value that must not be stored as it is.
func (r *review) take(field pointer, value []byte, set func(id string)) {
	r.secrets = append(r.secrets, taken{field: string(field), value: value, set: set})
}

// project is the name of the project that the document belongs to.
func (r *review) project() string { return r.path.Segment("projects") }

// name checks the name of the body against the path's.
func (r *review) name(name string) {
	const at pointer = "/metadata/name"
	if !isLabelValue(name) {
		r.refusef(at, "%s is no name; use at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit", quote(name))
		return
	}
	want, _, _ := strings.Cut(r.path.Name(), "/") // a composite app's version is in its spec
	if name != want {
		r.refusef(at, "is %s, but the path names %s", quote(name), quote(want))
	}
}

// verdict is the error that the findings amount to, nil for none.
func (r *review) verdict() error {
	switch {
	case len(r.invalid) > 0:
		return &intent.Error{Code: intent.Invalid, Detail: string(r.path) + " is not valid", Fields: slices.Concat(r.invalid, r.conflicts)}
	case len(r.conflicts) > 0:
		return &intent.Error{Code: intent.Conflict, Detail: string(r.path) + " conflicts with other documents", Fields: r.conflicts}
	}
	return nil
}

// write is what the review leads to.
func (r *review) write(metadata intent.Metadata, spec any, old *intent.Document) *Write {
	if parent := r.path.Parent(); parent != "" {
		r.refer(parent)
	}
	w := &Write{
		Path: r.path, Refs: r.refs, Condition: intent.IfAbsent(),
		metadata: intent.Metadata{
			Name: metadata.Name, Description: metadata.Description,
			UserData1: metadata.UserData1, UserData2: metadata.UserData2,
		},
		spec: spec, claim: r.claim,
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

func errNoResource(path intent.Path) error {
	return &intent.Error{Code: intent.NotFound, Detail: "there is no resource at " + quote(string(path))}
}

// errNoJSON tells where a body does not fit the shape of its resource.
func errNoJSON(err error) error {
	at := ""
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		at = "/" + strings.ReplaceAll(wrong.Field, ".", "/")
	}
	return &intent.Error{
		Code: intent.Invalid, Detail: "the body cannot be read",
		Fields: []intent.Field{{Pointer: at, Detail: err.Error()}},
	}
}
