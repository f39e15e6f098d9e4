package document

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// isEmcoctl tells a document in the form of EMCO's command line from one in
// Signpost's.
func isEmcoctl(fields map[string]json.RawMessage) bool {
	for name := range fields {
		if strings.EqualFold(name, "resourceContext") {
			return true
		}
	}
	return strings.HasPrefix(textOf(fields["version"]), "emco/")
}

// readEmcoctl understands a document in emcoctl's form. All its faults come in
// one error.
func readEmcoctl(d Document, fields map[string]json.RawMessage) (Document, error) {
	d.Emcoctl = true
	found := &Faults{Where: d.String()}
	refuseOthers(found, "", fields, "version", "resourceContext", "metadata", "spec", "clusterLabel", "file", "files")
	if version := textOf(fields["version"]); version != "emco/v2" && fields["version"] != nil {
		found.add("/version", "%s is not a known version of this form; use emco/v2", fields["version"])
	}
	anchor := readAnchor(found, fields["resourceContext"])
	d.Uploads, d.Field = readUploads(found, fields)
	if action := LastSegment(anchor); slices.Contains(EmcoActions(), action) {
		d.Action, d.Path = action, anchor
		if !hasLifecycle(d.Owner()) {
			found.add("/resourceContext/anchor", "%q asks for %s, which only deployment intent groups and logical clouds have", anchor, action)
		}
	} else {
		d.Path = intent.Join(string(anchor), readAnchored(found, anchor, fields))
	}
	if len(found.Fields) > 0 {
		return d, found
	}
	body := map[string]json.RawMessage{"metadata": json.RawMessage(`{"name":""}`)} // as emcoctl sends what has none
	for _, name := range []string{"metadata", "spec", "clusterLabel"} {
		if value, given := fields[name]; given && string(value) != "null" {
			body[name] = value
		}
	}
	var err error
	d.Body, err = json.Marshal(body)
	return d, err
}

// hasLifecycle tells whether the path is that of something to instantiate.
func hasLifecycle(path intent.Path) bool {
	return path.Name() != "" && slices.Contains([]string{"deployment-intent-groups", "logical-clouds"}, Kind(path))
}

// EmcoActions are what the last segment of an anchor may ask for.
func EmcoActions() []string {
	return []string{"approve", "instantiate", "migrate", "rollback", "stop", "terminate", "update"}
}

// refuseOthers finds the fields that the object does not have: emcoctl drops
// them without a word.
func refuseOthers(found *Faults, pointer string, fields map[string]json.RawMessage, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(known, name) {
			continue
		}
		detail := "is not a field of emcoctl's form; the fields are " + strings.Join(known, ", ")
		if near := nearest.Name(name, known); near != "" {
			detail += fmt.Sprintf("; did you mean %s?", near)
		}
		found.add(pointer+"/"+pointerEscape(name), "%s", detail)
	}
}

// readAnchor is the collection that the document belongs to, or the action that
// it asks for.
func readAnchor(found *Faults, raw json.RawMessage) intent.Path {
	const pointer, example = "/resourceContext/anchor", "give the path below /v2, as in projects/shop/dns-update-records"
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // what is no object has no anchor
	refuseOthers(found, "/resourceContext", fields, "anchor")
	text := textOf(fields["anchor"])
	if text == "" {
		found.add(pointer, "is missing, or is not a string; %s", example)
		return ""
	}
	if strings.Contains(text, "{{") {
		found.add(pointer, "%q is a template; %s", text, renderFirst)
		return ""
	}
	anchor, err := CleanPath(text)
	if err != nil {
		found.add(pointer, "%q is not a valid path; %s", text, example)
		return ""
	}
	tops := []string{"projects", "cluster-providers", "controllers", "clm-controllers"}
	first, _, _ := strings.Cut(string(anchor), "/")
	if !slices.Contains(tops, first) {
		found.add(pointer, "%q begins with none of %s; %s", text, strings.Join(tops, ", "), example)
		return ""
	}
	return anchor
}

const renderFirst = "render it first: signpost reads no values file"

// readAnchored is the name of a document in the collection of its anchor. That
// of a cluster's label is the label.
func readAnchored(found *Faults, anchor intent.Path, fields map[string]json.RawMessage) string {
	if anchor == "" {
		return ""
	}
	if collection, name := anchor.Split(); name != "" {
		found.add("/resourceContext/anchor", "%q is a document; give its collection, %s", anchor, collection)
	} else if !isKnown(anchor) {
		found.add("/resourceContext/anchor", "%q is neither a collection of Signpost nor one of EMCO's that signpost knows%s", anchor, meant(anchor))
	}
	if label := textOf(fields["clusterLabel"]); label != "" && Kind(anchor) == "labels" {
		return label
	}
	var metadata map[string]json.RawMessage
	_ = json.Unmarshal(fields["metadata"], &metadata) // what is no object has no name
	refuseOthers(found, "/metadata", metadata, "name", "description", "userData1", "userData2")
	if name := textOf(metadata["name"]); strings.Contains(name, "{{") {
		found.add("/metadata/name", "%q is a template; %s", name, renderFirst)
		return ""
	}
	return readName(found, anchor, fields)
}

// isKnown tells whether Signpost or EMCO has the collection.
func isKnown(collection intent.Path) bool {
	_, signposts := kindOf(collection)
	return signposts || emcoRank(collection) >= 0
}

// readUploads are the files that go along with a document, and the field of the
// form that they go in.
func readUploads(found *Faults, fields map[string]json.RawMessage) (uploads []string, field string) {
	one, many := fields["file"], fields["files"]
	switch {
	case one != nil && many != nil:
		found.add("/files", "cannot be combined with file; give one of the two")
		return nil, ""
	case one != nil:
		uploads, field = []string{textOf(one)}, "file"
	case many != nil:
		if json.Unmarshal(many, &uploads) != nil {
			found.add("/files", "is not a list of files")
			return nil, ""
		}
		field = "files"
	}
	for _, upload := range uploads {
		if strings.Contains(upload, "{{") {
			found.add("/"+field, "%q is a template; %s", upload, renderFirst)
		} else if info, err := os.Stat(upload); err != nil || info.IsDir() {
			found.add("/"+field, "%q is not a file; paths are relative to the directory where signpost runs", upload)
		}
	}
	return uploads, field
}

// withKubeconfig is the document of a cluster with the file that came along as
// its kubeconfig, as Signpost takes it.
func (d Document) withKubeconfig() (Document, error) {
	if Kind(d.Path) != "clusters" || d.Field != "file" {
		return d, fmt.Errorf("%s (%s): only clusters have a file, their kubeconfig; remove file and files", d, d.Path)
	}
	content, err := os.ReadFile(d.Uploads[0])
	if err != nil {
		return d, fmt.Errorf("%s: %w", d, err)
	}
	var body struct {
		Metadata json.RawMessage            `json:"metadata"`
		Spec     map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(d.Body, &body); err != nil {
		return d, fmt.Errorf("%s: /spec is not an object", d)
	}
	if body.Spec == nil {
		body.Spec = map[string]json.RawMessage{}
	}
	body.Spec["kubeconfig"] = fmt.Appendf(nil, "%q", base64.StdEncoding.EncodeToString(content))
	d.Uploads = nil
	d.Body, err = json.Marshal(body)
	return d, err
}

// isTemplate tells whether a text that is no YAML is a template of emcoctl.
func isTemplate(text []byte) bool { return bytes.Contains(text, []byte("{{")) }

// textOf is a JSON text, empty when the value is none.
func textOf(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}
