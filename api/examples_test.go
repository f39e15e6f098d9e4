package api_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// described is an operation of the document and where it is found.
type described struct {
	*openapi3.Operation
	method, template string
	parameters       []*openapi3.Parameter // of the path and its own
}

// inOrder lists the operations such that each finds what the others' examples
// made: what creates first, then all others, then what replaces, and what
// deletes, children first.
func inOrder(doc *openapi3.T) []described {
	var list []described
	for template, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			d := described{Operation: operation, method: method, template: template}
			for _, ref := range slices.Concat(item.Parameters, operation.Parameters) {
				d.parameters = append(d.parameters, ref.Value)
			}
			list = append(list, d)
		}
	}
	place := func(d described) int {
		at := slices.IndexFunc(rows(), func(r row) bool { return d.OperationID == "create"+r.one || d.OperationID == "delete"+r.one })
		switch {
		case d.method == http.MethodDelete:
			return len(rows()) + 1 - at
		case d.method == http.MethodPut:
			return 1
		case at >= 0:
			return at - len(rows())
		}
		return 0
	}
	slices.SortFunc(list, func(a, b described) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.OperationID, b.OperationID))
	})
	return list
}

// target is the operation's path with its parameters' examples. With asked
// they include those of the query.
func (d described) target(asked bool) string {
	path, query := d.template, url.Values{}
	for _, p := range d.parameters {
		switch p.In {
		case openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
		case openapi3.ParameterInQuery:
			query.Set(p.Name, fmt.Sprint(p.Example))
		}
	}
	if query.Has("to") {
		query.Del("takeover") // no rollback takes names over
	}
	if asked && len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// sample is an example of a body, with its media type.
type sample struct {
	media string
	body  any
}

// bodies are the examples of the operation's body, by media type and name; a
// nil one when it takes none.
func (d described) bodies() []sample {
	if d.RequestBody == nil {
		return []sample{{}}
	}
	var all []sample
	for _, media := range slices.Sorted(maps.Keys(d.RequestBody.Value.Content)) {
		examples := d.RequestBody.Value.Content[media].Examples
		for _, name := range slices.Sorted(maps.Keys(examples)) {
			all = append(all, sample{media, examples[name].Value.Value})
		}
	}
	return all
}

// send sends the operation with one of its bodies.
func (d described) send(w *world, target string, s sample, header ...string) *answer {
	if s.media == "" {
		return w.send(d.method, target, nil, header...)
	}
	if s.media == "application/yaml" {
		text, err := yaml.Marshal(s.body)
		require.NoError(w.t, err)
		s.body = string(text)
	}
	return w.send(d.method, target, s.body, append(header, "Content-Type", s.media)...)
}

// header are the examples of the operation's preconditions that hold: If-Match
// for what exists, If-None-Match for what does not.
func (d described) header() []string {
	var header []string
	for _, p := range d.parameters {
		if p.In == openapi3.ParameterInHeader && p.Name != "If-None-Match" {
			header = append(header, p.Name, fmt.Sprint(p.Example))
		}
	}
	return header
}

// TestEveryOperationsExampleIsSentAndAccepted sends the example of every
// operation, of GET too, to a server whose documents are these examples: its
// path, its query, its header and each of its bodies.
func TestEveryOperationsExampleIsSentAndAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, d := range inOrder(w.doc) {
		if d.method == http.MethodDelete {
			continue
		}
		require.NotEmpty(t, d.bodies(), "%s has no example of its body", d.OperationID)
		for _, body := range d.bodies() {
			answer := d.send(w, d.target(true), body, d.header()...)
			require.Less(t, answer.Code, http.StatusMultipleChoices, "%s: %s %s", d.OperationID, answer.request, answer.Body)
		}
		if strings.Contains(d.target(true), "?") && !strings.HasPrefix(d.OperationID, "create") { // it exists by now
			answer := d.send(w, d.target(false), d.bodies()[0])
			require.Less(t, answer.Code, http.StatusMultipleChoices, "%s without its query: %s", d.OperationID, answer.Body)
		}
	}
}

func TestTheExamplesOfDeleteDeleteWhatTheOthersCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	for _, d := range inOrder(w.doc) {
		if d.method == http.MethodDelete {
			done := http.StatusNoContent
			if d.OperationID == "deleteName" { // it goes once it is out of DNS
				done = http.StatusAccepted
			}
			w.send(d.method, d.target(true), nil, d.header()...).want(done)
		}
	}
	for _, collection := range []string{"/v2/projects", "/v2/cluster-providers"} {
		require.Empty(t, w.send(http.MethodGet, collection, nil).want(http.StatusOK).json()["items"])
	}
}

func TestTheExamplesOfPreconditionsHold(t *testing.T) {
	t.Parallel()
	for _, d := range inOrder(newWorld(t).doc) {
		if d.method != http.MethodPut || !strings.HasPrefix(d.OperationID, "put") { // of a document
			continue
		}
		one := strings.TrimPrefix(d.OperationID, "put")
		w := newWorld(t).fill(one)
		d.send(w, d.target(true), d.bodies()[0], "If-None-Match", "*").want(http.StatusCreated)
		d.send(w, d.target(true), d.bodies()[0], "If-None-Match", "*").want(http.StatusPreconditionFailed)
		d.send(w, d.target(true), d.bodies()[0], d.header()...).want(http.StatusOK)
	}
}

func TestEveryParameterHasAnExampleThatItsSchemaAccepts(t *testing.T) {
	t.Parallel()
	for _, d := range inOrder(newWorld(t).doc) {
		for _, p := range d.parameters {
			require.NotNil(t, p.Example, "%s: parameter %s has no example", d.OperationID, p.Name)
			require.NoError(t, p.Schema.Value.VisitJSON(p.Example), "%s: parameter %s", d.OperationID, p.Name)
		}
	}
}

func TestEveryOperationTellsItsErrorsAndItsExample(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for id, operation := range operations(w.doc) {
		require.NotEmpty(t, operation.Summary, id)
		require.NotEmpty(t, operation.Description, id)
		require.Contains(t, strings.Join(slices.Collect(maps.Keys(operation.Responses.Map())), " "), "20", "%s has no successful answer", id)
		for code, response := range operation.Responses.Map() {
			for media, content := range response.Value.Content {
				require.True(t, len(content.Examples) > 0 || content.Example != nil, "%s %s %s has no example", id, code, media)
			}
		}
	}
}

func TestEverySchemaAndFieldIsDescribed(t *testing.T) {
	t.Parallel()
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
