package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// checkParameters judges the path's and the query's parameters by their
// schemas. Unknown ones are refused: a mistyped ?confirm= must not be lost.
func (op *operation) checkParameters(c *call) error {
	var wrong, known []string
	for _, p := range op.parameters {
		values := []string{c.vars[p.Name]}
		if p.In == openapi3.ParameterInQuery {
			known = append(known, p.Name)
			values = c.query[p.Name]
		}
		switch {
		case len(values) > 1:
			wrong = append(wrong, p.In+" parameter "+p.Name+" is given more than once")
		case len(values) == 1:
			if detail := checkParameter(p.Schema.Value, values[0]); detail != "" {
				wrong = append(wrong, p.In+" parameter "+p.Name+" "+detail)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		if !slices.Contains(known, name) {
			wrong = append(wrong, "unknown query parameter "+strconv.Quote(jsonbody.Clip(name))+suggestion(name, known))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &intent.Error{Code: intent.Invalid, Detail: strings.Join(wrong, "; ")}
}

// checkParameter tells what is wrong with a value, empty for nothing.
func checkParameter(schema *openapi3.Schema, text string) string {
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
	fields := validate(schema, value)
	if len(fields) == 0 {
		return ""
	}
	return fields[0].Detail
}
