package site

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// referenceURL is where the site has the reference of the API.
const referenceURL = "openapi/reference.html"

// referenceFile stands for its page; the page is made, not written.
const referenceFile = "openapi/reference.md"

// reference makes the page of the API from its description.
func reference(root string) (Page, error) {
	content, err := os.ReadFile(filepath.Join(root, "openapi/openapi.yaml"))
	if err != nil {
		return Page{}, err
	}
	api, err := openapi3.NewLoader().LoadFromData(content)
	if err != nil {
		return Page{}, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# Reference of the API\n\n%s\n\n", api.Info.Description)
	for _, tag := range api.Tags {
		fmt.Fprintf(&text, "## %s\n\n%s\n\n", tag.Name, tag.Description)
		operations(&text, api, tag.Name)
	}
	text.WriteString("## Schemas\n\n")
	schemas(&text, api)
	html, err := render([]byte(text.String()), referenceFile, nil)
	return Page{File: referenceFile, URL: referenceURL, Title: "Reference of the API", HTML: html}, err
}

// operations writes those of a tag, by path.
func operations(text *strings.Builder, api *openapi3.T, tag string) {
	for _, path := range api.Paths.InMatchingOrder() {
		item := api.Paths.Value(path)
		methods := item.Operations()
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			operation := methods[method]
			if operation == nil || !slices.Contains(operation.Tags, tag) {
				continue
			}
			fmt.Fprintf(text, "### %s `%s`\n\n**%s.** %s\n\n", method, path, strings.TrimSuffix(operation.Summary, "."), operation.Description)
			if role, is := operation.Extensions["x-role"]; is {
				fmt.Fprintf(text, "Role: `%v`.", role)
			}
			if operation.RequestBody != nil {
				for _, media := range operation.RequestBody.Value.Content {
					fmt.Fprintf(text, " Body: %s.", nameOf(media.Schema))
					break // all media have one schema
				}
			}
			text.WriteString("\n\n")
			parameters(text, append(slices.Clone(item.Parameters), operation.Parameters...))
			responses(text, operation)
		}
	}
}

func parameters(text *strings.Builder, all openapi3.Parameters) {
	if len(all) == 0 {
		return
	}
	text.WriteString("| parameter | in | means |\n|---|---|---|\n")
	for _, parameter := range all {
		fmt.Fprintf(text, "| `%s` | %s | %s |\n", parameter.Value.Name, parameter.Value.In, cell(parameter.Value.Description))
	}
	text.WriteString("\n")
}

func responses(text *strings.Builder, operation *openapi3.Operation) {
	text.WriteString("| status | means |\n|---|---|\n")
	all := operation.Responses.Map()
	for _, status := range slices.Sorted(keys(all)) {
		said := ""
		if all[status].Value.Description != nil {
			said = *all[status].Value.Description
		}
		fmt.Fprintf(text, "| %s | %s |\n", status, cell(said))
	}
	text.WriteString("\n")
}

// schemas writes each schema with its fields.
func schemas(text *strings.Builder, api *openapi3.T) {
	for _, name := range slices.Sorted(keys(api.Components.Schemas)) {
		schema := api.Components.Schemas[name].Value
		fmt.Fprintf(text, "### %s\n\n%s\n\n", name, schema.Description)
		if len(schema.Properties) == 0 {
			continue
		}
		text.WriteString("| field | type | means |\n|---|---|---|\n")
		for _, field := range slices.Sorted(keys(schema.Properties)) {
			of := schema.Properties[field]
			needed := ""
			if slices.Contains(schema.Required, field) {
				needed = ", required"
			}
			fmt.Fprintf(text, "| `%s` | %s%s | %s |\n", field, nameOf(of), needed, cell(of.Value.Description))
		}
		text.WriteString("\n")
	}
}

// nameOf is a schema in a word, with a link to one that has a name.
func nameOf(schema *openapi3.SchemaRef) string {
	if schema == nil || schema.Value == nil {
		return "any"
	}
	if name, is := strings.CutPrefix(schema.Ref, "#/components/schemas/"); is {
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}
	types := strings.Join(schema.Value.Type.Slice(), " or ")
	switch {
	case schema.Value.Items != nil:
		return "list of " + nameOf(schema.Value.Items)
	case types == "":
		return "any"
	}
	return types
}

// cell keeps a text within a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func keys[V any](of map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range of {
			if !yield(key) {
				return
			}
		}
	}
}
