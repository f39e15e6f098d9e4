package api

import (
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// maxErrors is how many errors or warnings of a body are told at once.
const maxErrors = 100

// validate judges a decoded value by a schema and answers everything that is
// wrong, in the order of the value's sorted fields.
func validate(schema *openapi3.Schema, value any) []intent.Field {
	fields := collect(nil, schema.VisitJSON(value, openapi3.MultiErrors()))
	if len(fields) == maxErrors {
		fields = append(fields, intent.Field{Detail: "has more errors than are told here"})
	}
	return fields
}

// collect adds the errors in err to fields; of several about one value the
// first.
func collect(fields []intent.Field, err error) []intent.Field {
	if err == nil || len(fields) >= maxErrors {
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
		fields = append(fields, intent.Field{Detail: "cannot be judged: " + clip(err.Error())})
	}
	return fields
}
