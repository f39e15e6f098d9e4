// Package schema judges values by the schemas of openapi.yaml, and says what is wrong
// with them and what would be right.
package schema

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// MaxErrors is how many errors or warnings of a body are told at once.
const MaxErrors = 100

// maxJudged is how many values a body may have for all errors to be looked for. Each
// error takes a kilobyte of memory.
const maxJudged = 20_000

// Validate validates a decoded value by a schema. It returns all errors in the order of
// the value's sorted fields, and of more than maxJudged values the first one.
func Validate(schema *openapi3.Schema, value any) []intent.Field {
	if values(value) > maxJudged {
		fields := collect(nil, schema.VisitJSON(value))
		if len(fields) > 0 {
			fields = append(fields, intent.Field{Detail: "has more than " + strconv.Itoa(maxJudged) + " values, so that only the first error is told"})
		}
		return fields
	}
	fields := collect(nil, schema.VisitJSON(value, openapi3.MultiErrors()))
	if len(fields) == MaxErrors {
		fields = append(fields, intent.Field{Detail: "has more errors than are told here"})
	}
	return fields
}

// values is how many a value has in it, itself included.
func values(value any) int {
	found := 1
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			found += values(member)
		}
	case []any:
		for _, item := range v {
			found += values(item)
		}
	}
	return found
}

// collect adds the errors in err to fields; of several about one value the
// first.
func collect(fields []intent.Field, err error) []intent.Field {
	if err == nil || len(fields) >= MaxErrors {
		return fields
	}
	//nolint:errorlint // the library's lists answer errors.As for their items
	switch e := err.(type) {
	case openapi3.MultiError:
		for _, each := range e {
			fields = collect(fields, each)
		}
	case *openapi3.SchemaError:
		field := explain(e)
		if !slices.ContainsFunc(fields, func(f intent.Field) bool { return f.Pointer == field.Pointer }) {
			fields = append(fields, field)
		}
	default:
		fields = append(fields, intent.Field{Detail: "cannot be judged: " + jsonbody.Clip(err.Error())})
	}
	return fields
}

// ValidateText judges a parameter, which is given as text, and returns what is wrong
// with it; empty for nothing.
func ValidateText(schema *openapi3.Schema, text string) string {
	var value any = text
	if schema.Type.Is(openapi3.TypeInteger) {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return "must be " + expected(schema)
		}
		value = json.Number(text)
	}
	if schema.Type.Is(openapi3.TypeBoolean) && (text == "true" || text == "false") {
		value = text == "true"
	}
	fields := Validate(schema, value)
	if len(fields) == 0 {
		return ""
	}
	return fields[0].Detail
}
