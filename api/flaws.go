package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// allFlaws adds to what is wrong with the shape of a document what else is wrong
// with it: the rest is judged as if what has no right shape were not there. Nothing
// is stored.
func (e *edge) allFlaws(ctx context.Context, op *operation, c *call, sent received, cause error) error {
	var shape *intent.Error
	if !errors.As(cause, &shape) || len(shape.Fields) == 0 || !op.stores() {
		return cause
	}
	object, body, ok := op.without(sent, shape.Fields)
	if !ok {
		return cause
	}
	path := c.path
	if strings.HasPrefix(op.id, "create") {
		path = created(c.path, object)
	}
	old, err := e.find(ctx, path)
	if err != nil {
		return cause
	}
	var more *intent.Error
	if _, err := e.Admitter.Admit(ctx, path, body, old); !errors.As(err, &more) {
		return cause
	}
	all := slices.Clone(shape.Fields)
	for _, field := range more.Fields {
		known := func(f intent.Field) bool { return within(field.Pointer, f.Pointer) }
		if !slices.ContainsFunc(shape.Fields, known) {
			all = append(all, field)
		}
	}
	return jsonbody.Invalid(all)
}

// stores tells whether the operation stores its body as a document.
func (op *operation) stores() bool {
	return strings.HasPrefix(op.id, "create") || strings.HasPrefix(op.id, "put")
}

// without is a body without the members that the fields name; not ok where there
// is no right shape left.
func (op *operation) without(sent received, fields []intent.Field) (object map[string]any, body []byte, ok bool) {
	raw, err := sent.json()
	if err != nil {
		return nil, nil, false
	}
	value, _, err := jsonbody.Decode(raw)
	if err != nil {
		return nil, nil, false
	}
	object, ok = value.(map[string]any)
	if !ok {
		return nil, nil, false
	}
	dropServerFields(object)
	for _, field := range fields {
		if !drop(object, field.Pointer) {
			return nil, nil, false
		}
	}
	if left := validate(op.body, object); slices.ContainsFunc(left, func(f intent.Field) bool { return !isMissing(f) || names(f.Pointer) }) {
		return nil, nil, false
	}
	body, err = json.Marshal(object)
	return object, body, err == nil
}

// isMissing tells that a field is said to be required, and is not there: the others
// can be judged without it.
func isMissing(f intent.Field) bool { return strings.HasPrefix(f.Detail, missing) }

// names tells whether a document is not known without a field.
func names(pointer string) bool {
	return within(pointer, "/metadata") || pointer == "/spec/compositeAppVersion" || pointer == "/spec"
}

// drop removes a member by its JSON pointer. It does not for items of lists: what
// is said of those behind would name other ones.
func drop(object map[string]any, pointer string) bool {
	segments := strings.Split(pointer, "/")[1:]
	if len(segments) == 0 {
		return false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	var at any = object
	for _, segment := range segments[:len(segments)-1] {
		at = member(at, unescape.Replace(segment))
	}
	parent, ok := at.(map[string]any)
	delete(parent, unescape.Replace(segments[len(segments)-1]))
	return ok
}

// within tells whether a JSON pointer leads to a place, or below it.
func within(pointer, place string) bool {
	return pointer == place || strings.HasPrefix(pointer, place+"/")
}

// member is what a JSON value has by a name, or at an index.
func member(of any, name string) any {
	switch value := of.(type) {
	case map[string]any:
		return value[name]
	case []any:
		if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(value) {
			return value[n]
		}
	}
	return nil
}
