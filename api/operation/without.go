package operation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/schema"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Without returns a body without the members that the fields name. It is not ok if no
// right shape is left.
func (op *Operation) Without(sent Received, fields []intent.Field) (object map[string]any, body []byte, ok bool) {
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
	if left := schema.Validate(op.body, object); slices.ContainsFunc(left, func(f intent.Field) bool { return !schema.IsMissing(f) || names(f.Pointer) }) {
		return nil, nil, false
	}
	body, err = json.Marshal(object)
	return object, body, err == nil
}

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

// within reports whether a JSON pointer leads to a place, or below it.
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

// Shape validates a JSON body for an operation of openapi.yaml, as it would be
// validated in a request. It returns the body without the fields that the server adds
// to documents. Its errors are *intent.Error values, Invalid.
func Shape(operationID string, raw []byte) ([]byte, error) {
	doc, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	for _, item := range doc.Paths.Map() {
		for _, described := range item.Operations() {
			if described.OperationID == operationID {
				_, body, err := parseBody(raw, described.RequestBody.Value.Content[mediaJSON].Schema.Value)
				return body, err
			}
		}
	}
	return nil, fmt.Errorf("api: openapi.yaml has no operation %s", operationID)
}
