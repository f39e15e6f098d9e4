// Package document reads documents from files: Signpost's own form, and that of
// emcoctl.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
	"github.com/signpost-dns/signpost/pkg/domain/redact"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// Document is one document of a file, as apply and delete take it.
type Document struct {
	File   string
	Number int             // in its file, counted from 1
	Path   intent.Path     // where it goes
	Body   json.RawMessage // metadata and spec

	// Of emcoctl's form alone.
	Emcoctl bool
	Action  string        // the last segment of the path, when it is no document but a request
	Uploads []string      // files that go along
	Field   string        // of the form that they go in
	Service *emco.Service // that keeps it, when it is not Signpost
}

// Owner is the document's path, of a request that of what it is about.
func (d Document) Owner() intent.Path {
	return intent.Path(strings.TrimSuffix(string(d.Path), "/"+d.Action))
}

// String says where the document is.
func (d Document) String() string { return fmt.Sprintf("%s, document %d", d.File, d.Number) }

// Faults are all the things wrong with a document, found before it is sent.
type Faults struct {
	Where  string
	Fields []intent.Field
}

func (f *Faults) add(pointer, format string, args ...any) {
	f.Fields = append(f.Fields, intent.Field{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
}

// Error is a line for the document and one for each fault.
func (f *Faults) Error() string {
	var b strings.Builder
	b.WriteString(f.Where + " is not a valid document")
	for _, field := range f.Fields {
		fmt.Fprintf(&b, "\n  %s: %s", field.Pointer, field.Detail)
	}
	return b.String()
}

// ReadDocument understands one document, in YAML or JSON, which belongs to the
// resource unless it says otherwise. All its faults come in one error.
func ReadDocument(file string, number int, text []byte, resource string) (Document, error) {
	d := Document{File: file, Number: number}
	raw, err := safeyaml.ToJSON(text)
	if err != nil && isTemplate(text) {
		return d, fmt.Errorf("%s is a template; %s", d, renderFirst)
	}
	if err != nil {
		return d, fmt.Errorf("%s: %s", d, redact.YAML(text, err))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return d, fmt.Errorf("%s is not an object with resource, metadata and spec", d)
	}
	if isEmcoctl(fields) {
		return readEmcoctl(d, fields)
	}
	found := &Faults{Where: d.String()}
	if fields["resource"] == nil && resource == "" && isOpenShift(fields) {
		return d, fmt.Errorf("%s is a DNS object of OpenShift: name its logical cloud with --resource projects/PROJECT/logical-clouds/LOGICAL-CLOUD/dns-cr-intents", d)
	}
	collection := readResource(found, fields["resource"], resource)
	RefuseUnknown(found, fields, collection)
	name := readName(found, collection, fields)
	if len(found.Fields) > 0 {
		return d, found
	}
	d.Path = intent.Join(string(collection), name)
	delete(fields, "resource")
	delete(fields, "status")
	d.Body, err = json.Marshal(fields)
	return d, err
}

// isOpenShift tells the DNS object of OpenShift from a document.
func isOpenShift(fields map[string]json.RawMessage) bool {
	var version, kind string
	_ = json.Unmarshal(fields["apiVersion"], &version)
	_ = json.Unmarshal(fields["kind"], &kind)
	return kind == "DNS" && strings.HasPrefix(version, "operator.openshift.io/")
}

// RefuseUnknown finds the fields that no document has. A status is let pass,
// so that what the server answered can be applied again, and what OpenShift's
// DNS object has beside.
func RefuseUnknown(found *Faults, fields map[string]json.RawMessage, collection intent.Path) {
	known := []string{"resource", "metadata", "spec", "status"}
	if Kind(collection) == "dns-cr-intents" {
		known = append(known, "apiVersion", "kind")
	}
	var unknown []string
	for name := range fields {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		detail := "is not a field of a document; the fields are resource, metadata and spec"
		if near := nearest.Name(name, known); near != "" {
			detail += "; did you mean " + near + "?"
		}
		found.add("/"+pointerEscape(name), "%s", detail)
	}
}

func pointerEscape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// readResource is the collection that the document belongs to: usual, unless it
// says otherwise.
func readResource(found *Faults, raw json.RawMessage, usual string) intent.Path {
	const example = "give the collection below /v2, as in projects/shop/dns-update-records"
	text := usual
	if raw != nil && json.Unmarshal(raw, &text) != nil || text == "" {
		found.add("/resource", "is missing; %s", example)
		return ""
	}
	path, err := CleanPath(text)
	if err != nil {
		found.add("/resource", "%q is not a valid path; %s", text, example)
		return ""
	}
	if _, name := path.Split(); name != "" {
		found.add("/resource", "%q is a document, not a collection; %s", text, example)
	} else if _, known := kindOf(path); !known {
		found.add("/resource", "%q is not a collection of Signpost%s", text, meant(path))
	}
	return path
}

// meant proposes the collection that an unknown one may stand for.
func meant(path intent.Path) string {
	var known []string
	for _, kind := range intent.Kinds() {
		known = append(known, kind.Collection())
	}
	near := nearest.Name(Kind(path), known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near)
}

// readName is the document's name in its collection: that of its metadata; for
// a composite app also its version.
func readName(found *Faults, collection intent.Path, fields map[string]json.RawMessage) string {
	var metadata struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(fields["metadata"], &metadata); err != nil || metadata.Name == "" {
		found.add("/metadata/name", "is missing, or is not a string")
	} else if _, err := CleanPath(metadata.Name); err != nil || strings.Contains(metadata.Name, "/") {
		found.add("/metadata/name", "%q is not a valid name; use letters, digits, -, _ and .", metadata.Name)
	}
	if Kind(collection) != "composite-apps" {
		return metadata.Name
	}
	var spec intent.CompositeApp
	if err := json.Unmarshal(fields["spec"], &spec); err != nil || spec.CompositeAppVersion == "" {
		found.add("/spec/compositeAppVersion", "is missing, or is not a string")
	}
	return metadata.Name + "/" + spec.CompositeAppVersion
}

// duplicates is an error for each document that another one already is.
func duplicates(documents []Document) error {
	first := map[intent.Path]Document{}
	var found []error
	for _, d := range documents {
		if before, seen := first[d.Path]; seen {
			found = append(found, fmt.Errorf("%s and %[3]s are the same document: %[2]s", d, d.Path, before))
			continue
		}
		first[d.Path] = d
	}
	return errors.Join(found...)
}

// isBlank tells whether a document holds nothing but space and comments.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}
