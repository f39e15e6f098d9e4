package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// concrete is a path template with its parameters' examples, and the query of
// the operation's examples.
func concrete(template string, item *openapi3.PathItem) string {
	for _, p := range item.Parameters {
		example, _ := p.Value.Example.(string)
		template = strings.ReplaceAll(template, "{"+p.Value.Name+"}", example)
	}
	return template
}

// success is the documented status that is not an error.
func success(operation *openapi3.Operation) []string {
	codes := slices.Collect(maps.Keys(operation.Responses.Map()))
	return slices.DeleteFunc(codes, func(code string) bool { return code[0] != '2' })
}

func TestEveryOperationsExampleIsSentAndAccepted(t *testing.T) {
	w := newWorld(t).fill("")
	sent := map[string]bool{}
	for template, item := range w.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if method == http.MethodDelete || strings.HasPrefix(operation.OperationID, "create") {
				continue
			}
			var body any
			if operation.RequestBody != nil {
				for _, example := range operation.RequestBody.Value.Content.Get("application/json").Examples {
					body = example.Value.Value
				}
			}
			answer := w.send(method, concrete(template, item), body)
			require.Less(t, answer.Code, 300, "%s: %s", operation.OperationID, answer.Body)
			sent[operation.OperationID] = true
		}
	}
	resources := rows()
	for _, r := range slices.Backward(resources) {
		w.send(http.MethodDelete, r.item, nil).want(http.StatusNoContent)
		sent["delete"+r.one], sent["create"+r.one] = true, true // created by fill
	}
	for id, operation := range operations(w.doc) {
		require.True(t, sent[id], "no example of %s is sent", id)
		require.NotEmpty(t, success(operation), "%s has no successful answer", id)
	}
}

func TestEveryParameterHasAnExampleThatItsSchemaAccepts(t *testing.T) {
	w := newWorld(t)
	for name, ref := range w.doc.Components.Parameters {
		require.NotNil(t, ref.Value.Example, name)
		require.NoError(t, ref.Value.Schema.Value.VisitJSON(ref.Value.Example), name)
	}
}

func TestEveryOperationTellsItsErrorsAndItsExample(t *testing.T) {
	w := newWorld(t)
	for id, operation := range operations(w.doc) {
		require.NotEmpty(t, operation.Summary, id)
		require.NotEmpty(t, operation.Description, id)
		for code, response := range operation.Responses.Map() {
			for media, content := range response.Value.Content {
				if code[0] == '2' {
					require.True(t, len(content.Examples) > 0 || content.Example != nil, "%s %s %s has no example", id, code, media)
				}
			}
		}
	}
}

func TestEverySchemaAndFieldIsDescribed(t *testing.T) {
	w := newWorld(t)
	for name, ref := range w.doc.Components.Schemas {
		require.NotEmpty(t, ref.Value.Description, name)
		for field, property := range ref.Value.Properties {
			require.NotEmpty(t, property.Value.Description, "%s.%s", name, field)
		}
		if ref.Value.Type.Is(openapi3.TypeObject) && ref.Value.AdditionalProperties.Schema == nil {
			closed := ref.Value.AdditionalProperties.Has
			require.True(t, closed != nil && (!*closed || name == "Manifest"), "%s is open", name)
		}
	}
}
