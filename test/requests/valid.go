package requests

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// values makes values that fit schemas.
type values struct {
	*rand.Rand
	words words
}

// oneOf is any item of a list, which must not be empty.
func oneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// chance is true in that many of a hundred cases.
func (v *values) chance(percent int) bool { return v.IntN(100) < percent }

// fits tells whether a schema takes a value.
func fits(schema *openapi3.Schema, value any) bool { return schema.VisitJSON(value) == nil }

// of is a value for the field of this name with this schema.
func (v *values) of(name string, schema *openapi3.Schema) any {
	if alternatives := slices.Concat(schema.AnyOf, schema.OneOf); len(alternatives) > 0 {
		return v.of(name, oneOf(v.Rand, alternatives).Value)
	}
	switch {
	case len(schema.Enum) > 0:
		return oneOf(v.Rand, schema.Enum)
	case schema.Type.Is(openapi3.TypeString):
		return v.text(name, schema)
	case schema.Type.Is(openapi3.TypeInteger), schema.Type.Is(openapi3.TypeNumber):
		return v.number(schema)
	case schema.Type.Is(openapi3.TypeBoolean):
		return v.chance(50)
	case schema.Type.Is(openapi3.TypeArray):
		items := []any{}
		for range int(schema.MinItems) + v.IntN(3) {
			items = append(items, v.of(name, schema.Items.Value))
		}
		return items
	case schema.Type.Is(openapi3.TypeObject):
		return v.grown(map[string]any{}, schema)
	}
	return oneOf(v.Rand, []any{"lab", 1.0, true, []any{"a"}, map[string]any{"a": "b"}})
}

// text is a word that the schema takes: most often one that its name is known for.
func (v *values) text(name string, schema *openapi3.Schema) string {
	for range 30 {
		list := v.words.all
		if known := v.words.under[name]; len(known) > 0 && v.chance(80) {
			list = known
		}
		word := oneOf(v.Rand, list)
		if v.chance(15) {
			word += string(rune('a' + v.IntN(26)))
		}
		if fits(schema, word) {
			return word
		}
	}
	from := v.IntN(len(v.words.all))
	for i := range v.words.all {
		if word := v.words.all[(from+i)%len(v.words.all)]; fits(schema, word) {
			return word
		}
	}
	return strings.Repeat("x", max(1, int(schema.MinLength)))
}

// number is a whole number within bounds, most often a small one or a bound.
func (v *values) number(schema *openapi3.Schema) float64 {
	least, most := 0.0, 1e6
	if schema.Min != nil {
		least = *schema.Min
	}
	if schema.Max != nil {
		most = *schema.Max
	}
	return oneOf(v.Rand, []float64{least, most, min(most, least+float64(v.IntN(100)))})
}

// grown is an object with its required fields, and some of the others.
func (v *values) grown(object map[string]any, schema *openapi3.Schema) map[string]any {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name].Value
		required := slices.Contains(schema.Required, name)
		if _, there := object[name]; there || property.ReadOnly || !required && !v.chance(20) {
			continue
		}
		object[name] = v.of(name, property)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if property := schema.Properties[name].Value; uint64(len(object)) < schema.MinProps && !property.ReadOnly && object[name] == nil {
			object[name] = v.of(name, property)
		}
	}
	if more := schema.AdditionalProperties.Schema; more != nil && (len(object) == 0 || v.chance(20)) {
		key := oneOf(v.Rand, v.words.all)
		object[key] = v.of(key, more.Value)
	}
	return object
}

// varied is a copy of an example whose fields were partly made anew, and which
// has some fields more.
func (v *values) varied(name string, example any, schema *openapi3.Schema) any {
	if object, ok := example.(map[string]any); ok && schema.Type.Is(openapi3.TypeObject) {
		copied := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			switch property := propertyOf(schema, key); {
			case property == nil:
				copied[key] = object[key]
			case v.chance(10) && !slices.Contains(schema.Required, key):
			default:
				copied[key] = v.varied(key, object[key], property)
			}
		}
		return v.grown(copied, schema)
	}
	if v.chance(8) {
		return v.of(name, schema)
	}
	return example
}

// propertyOf is the schema of an object's field; nil when any value will do or none.
func propertyOf(schema *openapi3.Schema, name string) *openapi3.Schema {
	if property := schema.Properties[name]; property != nil {
		return property.Value
	}
	if more := schema.AdditionalProperties.Schema; more != nil {
		return more.Value
	}
	return nil
}
