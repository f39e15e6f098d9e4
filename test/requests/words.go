package requests

import (
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// words are the texts of a document's examples: all of them, and those that
// stand under a name. They are what makes references meet.
type words struct {
	all   []string
	under map[string][]string // by field or parameter
}

// wordsOf collects the words of a document, in an order that is always the same.
func wordsOf(doc *openapi3.T) words {
	w := words{under: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Parameters)) {
		p := doc.Components.Parameters[name].Value
		w.collect(p.Name, p.Example)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		schema := doc.Components.Schemas[name].Value
		w.collect(name, schema.Example)
		for _, field := range slices.Sorted(maps.Keys(schema.Properties)) {
			w.collect(field, schema.Properties[field].Value.Example)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Examples)) {
		w.collect(name, doc.Components.Examples[name].Value.Value)
	}
	w.all = slices.Compact(slices.Sorted(slices.Values(w.all)))
	for name, list := range w.under {
		w.under[name] = slices.Compact(slices.Sorted(slices.Values(list)))
	}
	return w
}

// collect adds the texts in a value that stands under a name.
func (w *words) collect(name string, value any) {
	switch v := value.(type) {
	case string:
		w.all = append(w.all, v)
		w.under[name] = append(w.under[name], v)
	case []any:
		for _, item := range v {
			w.collect(name, item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.all = append(w.all, key)
			w.collect(key, v[key])
		}
	}
}
