package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// missing is what is said of a required field.
const missing = "is missing"

// IsMissing reports whether an error says that a required field is missing. The
// other fields can be judged without it.
func IsMissing(f intent.Field) bool { return strings.HasPrefix(f.Detail, missing) }

// explain says what is wrong with a value and what would be right. It never
// quotes the value: it may be a secret.
func explain(err *openapi3.SchemaError) intent.Field {
	path := err.JSONPointer()
	detail := "must be " + expected(err.Schema)
	switch err.SchemaField {
	case "properties":
		name := unknownName(err)
		path = append(path, name)
		known := slices.Sorted(maps.Keys(err.Schema.Properties))
		detail = "unknown field " + strconv.Quote(jsonbody.Clip(name)) + Suggestion(name, known)
		if hint, ok := err.Schema.Extensions["x-unknown"].(string); ok {
			detail += "; " + hint
		}
	case "required":
		detail = missing
		if property := err.Schema.Properties[path[len(path)-1]]; property != nil {
			detail += "; give " + expected(property.Value)
		}
	case "type":
		if _, number := err.Value.(float64); !number || !err.Schema.Type.Is(openapi3.TypeInteger) {
			detail += ", not " + kindOf(err.Value)
		}
	case "nullable":
		detail = "must not be null; leave it out, or give " + expected(err.Schema)
	case "maxLength":
		if err.Schema.Extensions["x-expects"] == nil {
			detail = fmt.Sprintf("must have at most %d characters", *err.Schema.MaxLength)
		}
	case "minLength":
		if err.Schema.Extensions["x-expects"] == nil {
			detail = "must not be empty"
		}
	case "minItems":
		detail = fmt.Sprintf("must have at least %d items", err.Schema.MinItems)
	case "maxItems":
		detail = fmt.Sprintf("must have at most %d items", *err.Schema.MaxItems)
	case "maxProperties":
		detail = fmt.Sprintf("must have at most %d members", *err.Schema.MaxProps)
	case "minimum", "maximum", "enum", "pattern", "anyOf", "minProperties", "format":
	default:
		detail += ": " + err.Reason
	}
	return intent.Field{Pointer: jsonbody.Pointer(path), Detail: detail}
}

// unknownName is the field that an error about unknown fields is about. The
// library tells it in its message alone.
func unknownName(err *openapi3.SchemaError) string {
	quoted, _ := strconv.QuotedPrefix(strings.TrimPrefix(err.Reason, "property "))
	name, _ := strconv.Unquote(quoted)
	return name
}

// expected says what a schema wants, to follow "must be".
func expected(schema *openapi3.Schema) string {
	if hint, ok := schema.Extensions["x-expects"].(string); ok {
		return hint
	}
	switch {
	case len(schema.Enum) > 0:
		words := make([]string, len(schema.Enum))
		for i, value := range schema.Enum {
			words[i] = strconv.Quote(fmt.Sprint(value))
		}
		return "one of " + strings.Join(words, ", ")
	case schema.Type.Is(openapi3.TypeInteger) && schema.Min != nil && schema.Max != nil:
		return fmt.Sprintf("a whole number from %.0f to %.0f", *schema.Min, *schema.Max)
	case schema.Type.Is(openapi3.TypeInteger):
		return "a whole number"
	case schema.Type.Is(openapi3.TypeNumber):
		return "a number"
	case schema.Type.Is(openapi3.TypeBoolean):
		return "true or false"
	case schema.Type.Is(openapi3.TypeString):
		return "text"
	case schema.Type.Is(openapi3.TypeArray):
		return "a list"
	case schema.Type.Is(openapi3.TypeObject):
		return "an object"
	}
	return "a value"
}

// kindOf names the kind of a decoded value.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "text"
	case float64, json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

// Suggestion follows an unknown name: the nearest known one when there is one
// that could be meant, else all.
func Suggestion(name string, known []string) string {
	if len(known) == 0 {
		return "; none is known here"
	}
	if near := nearest.Name(jsonbody.Clip(name), known); near != "" {
		return "; did you mean " + strconv.Quote(near) + "?"
	}
	return "; known are " + strings.Join(known, ", ")
}
