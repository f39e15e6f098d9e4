package requests

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// place is a value within a body, and how to replace it.
type place struct {
	pointer string
	name    string
	schema  *openapi3.Schema
	value   any
	set     func(any)
}

// places lists the values of a body that the server judges: not what it
// ignores, and nothing where anything will do.
func places(at place) []place {
	list := []place{at}
	switch value := at.value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			property := propertyOf(at.schema, name)
			if property == nil || property.ReadOnly {
				continue
			}
			list = append(list, places(place{
				pointer: at.pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name),
				name:    name, schema: property, value: value[name],
				set: func(wrong any) { value[name] = wrong },
			})...)
		}
	case []any:
		if at.schema.Items == nil {
			break
		}
		for i := range value {
			list = append(list, places(place{
				pointer: at.pointer + "/" + strconv.Itoa(i),
				name:    at.name, schema: at.schema.Items.Value, value: value[i],
				set: func(wrong any) { value[i] = wrong },
			})...)
		}
	}
	return list
}

// spoil makes one mistake in a body and answers the pointer to it, empty when
// no mistake could be made.
func (g *Generator) spoil(body map[string]any, schema *openapi3.Schema) string {
	all := places(place{schema: schema, value: body, set: func(any) {}})
	for range 20 {
		at := oneOf(g.Rand, all)
		object, isObject := at.value.(map[string]any)
		switch {
		case isObject && g.chance(30) && closed(at.schema):
			name := "x-" + oneOf(g.Rand, g.words.all)
			object[name] = oneOf(g.Rand, wrongValues())
			return at.pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		case isObject && g.chance(30) && len(at.schema.Required) > 0:
			name := oneOf(g.Rand, at.schema.Required)
			delete(object, name)
			return at.pointer + "/" + name
		case at.pointer == "":
			continue
		}
		if wrong := oneOf(g.Rand, wrongValues()); !fits(at.schema, plain(wrong)) {
			at.set(wrong)
			return at.pointer
		}
	}
	return ""
}

// closed tells whether an object takes no fields but its own.
func closed(schema *openapi3.Schema) bool {
	has := schema.AdditionalProperties.Has
	return has != nil && !*has
}

// wrongValues are values that few fields take.
func wrongValues() []any {
	return []any{
		nil, true, "", " ", "-x-", "\u202e", "ü", strings.Repeat("x", 600), "{{.Name", "a b", "../..", "\x00",
		-1.0, 0.5, 1e300, float64(math.MaxInt64), json.Number("1e999"), json.Number("123456789012345678901234567890"),
		[]any{}, []any{nil}, []any{[]any{}}, map[string]any{}, map[string]any{"": ""},
	}
}

// plain is a value as a schema judges it.
func plain(value any) any {
	if number, ok := value.(json.Number); ok {
		float, err := number.Float64()
		if err != nil {
			return number
		}
		return float
	}
	return value
}
