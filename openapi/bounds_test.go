package openapi_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/openapi"
)

// TestEverythingThatUsersFillHasABound: each list, map and text of a body or a
// parameter, so that nobody can make the server hold or judge more than fits a
// document. What is free JSON (values of KV pairs, manifests) is bounded by the
// body's size and depth.
func TestEverythingThatUsersFillHasABound(t *testing.T) {
	doc, err := openapi.Load()
	require.NoError(t, err)
	w := walk{t: t, seen: map[*openapi3.Schema]bool{}}
	for path, item := range doc.Paths.Map() {
		parameters := item.Parameters
		for method, op := range item.Operations() {
			parameters = append(parameters, op.Parameters...)
			if op.RequestBody == nil {
				continue
			}
			for media, content := range op.RequestBody.Value.Content {
				w.schema(method+" "+path+" "+media, content.Schema)
			}
		}
		for _, parameter := range parameters {
			w.schema(path+" "+parameter.Value.Name, parameter.Value.Schema)
		}
	}
	require.Greater(t, w.bounded, 150, "the walk reaches what there is")
}

// walk looks for schemas without bounds.
type walk struct {
	t       *testing.T
	seen    map[*openapi3.Schema]bool
	bounded int
}

func (w *walk) schema(at string, ref *openapi3.SchemaRef) {
	if ref == nil || ref.Value.ReadOnly || w.seen[ref.Value] {
		return
	}
	schema := ref.Value
	w.seen[schema] = true
	switch {
	case schema.Type.Is(openapi3.TypeString):
		w.bound(at, schema.MaxLength != nil || len(schema.Enum) > 0 || schema.Format == "date-time", "maxLength")
	case schema.Type.Is(openapi3.TypeArray):
		w.bound(at, schema.MaxItems != nil, "maxItems")
	case schema.Type.Is(openapi3.TypeObject):
		closed := schema.AdditionalProperties.Has != nil && !*schema.AdditionalProperties.Has
		w.bound(at, closed || schema.MaxProps != nil, "maxProperties, nor additionalProperties: false")
	}
	for name, property := range schema.Properties {
		w.schema(at+"/"+name, property)
	}
	w.schema(at+"/-", schema.Items)
	w.schema(at+"/*", schema.AdditionalProperties.Schema)
	for _, variants := range []openapi3.SchemaRefs{schema.AnyOf, schema.OneOf, schema.AllOf} {
		for _, variant := range variants {
			w.schema(at, variant)
		}
	}
}

func (w *walk) bound(at string, has bool, what string) {
	if has {
		w.bounded++
		return
	}
	w.t.Errorf("%s has no %s", at, what)
}
