package cluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// KindOf is the kind of the object that id names.
func KindOf(id bundle.ID) Kind { return Kind{Group: id.Group, Kind: id.Kind} }

// Marks are the labels and annotations that an object wants to carry.
type Marks struct {
	Labels      map[string]string // but for LabelName, so that the objects of very many names may share them
	Annotations map[string]string
	Name        string // the value of LabelName, empty for none
}

// MarksOf reads the marks out of an object and adds those of the
// installation, as Create and Apply do.
func MarksOf(o bundle.Object, installation string) (Marks, error) {
	head, err := o.Head()
	if err != nil {
		return Marks{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	m := Marks{Labels: map[string]string{}, Annotations: head.Annotations}
	maps.Copy(m.Labels, head.Labels)
	m.Name = m.Labels[bundle.LabelName]
	delete(m.Labels, bundle.LabelName)
	m.Labels[bundle.LabelManagedBy] = bundle.ManagedBy
	m.Labels[bundle.LabelInstallation] = installation
	return m, nil
}

// Equal tells whether the marks are the same.
func (m Marks) Equal(other Marks) bool {
	return m.Name == other.Name && maps.Equal(m.Labels, other.Labels) && maps.Equal(m.Annotations, other.Annotations)
}

// All are all labels, in a map of their own.
func (m Marks) All() map[string]string {
	all := maps.Clone(m.Labels)
	if m.Name != "" {
		all[bundle.LabelName] = m.Name
	}
	return all
}

// Intact tells whether the live object still carries the marks.
func (m Marks) Intact(live Live) bool {
	named := m.Name == "" || live.Labels[bundle.LabelName] == m.Name
	return named && intent.HasLabels(live.Labels, m.Labels) && intent.HasLabels(live.Annotations, m.Annotations)
}

// Ours tells whether the live object belongs to the installation.
func (l Live) Ours(installation string) bool {
	return installation != "" && l.Labels[bundle.LabelInstallation] == installation
}

// Content is an object on its way to a cluster.
type Content struct {
	id         bundle.ID
	APIVersion string
	Fields     map[string]any
	secrets    []string // values that were filled in, and their encodings
}

// Parse reads the object and gives it the installation's labels.
func Parse(o bundle.Object, installation string) (*Content, error) {
	decoder := json.NewDecoder(bytes.NewReader(o.JSON))
	decoder.UseNumber()
	c := &Content{id: o.ID}
	if err := decoder.Decode(&c.Fields); err != nil {
		return nil, Refuse(o.ID.String() + " is not a JSON object")
	}
	c.APIVersion, _ = c.Fields["apiVersion"].(string)
	if c.APIVersion == "" {
		return nil, Refuse(o.ID.String() + " has no apiVersion")
	}
	labels := c.child("metadata", "labels")
	labels[bundle.LabelManagedBy] = bundle.ManagedBy
	labels[bundle.LabelInstallation] = installation
	return c, nil
}

// child is the JSON object at the end of the path, made where it is missing.
func (c *Content) child(path ...string) map[string]any {
	at := c.Fields
	for _, key := range path {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	return at
}

// At makes the API server refuse the object unless it is at the version.
func (c *Content) At(v Version) {
	metadata := c.child("metadata")
	metadata["resourceVersion"] = v.ResourceVersion
	if v.UID != "" {
		metadata["uid"] = v.UID
	}
}

// References answers which keys of a Secret get which sealed values.
func (c *Content) References() (map[string]string, error) {
	annotations, _ := c.child("metadata")["annotations"].(map[string]any)
	text, ok := annotations[bundle.AnnotationValuesFrom].(string)
	if !ok || c.id.Kind != "Secret" || c.id.Group != "" {
		return nil, nil
	}
	var references map[string]string
	if err := json.Unmarshal([]byte(text), &references); err != nil {
		return nil, Refuse(c.id.String() + ": the annotation " + bundle.AnnotationValuesFrom + " is not an object of texts")
	}
	return references, nil
}

// Fill puts the sealed values into a Secret that refers to some.
func (c *Content) Fill(ctx context.Context, values Values) error {
	references, err := c.References()
	if err != nil || len(references) == 0 {
		return err
	}
	if values == nil {
		return Refuse(c.id.String() + " needs values, and there is nothing to open them with")
	}
	data := c.child("data")
	for _, key := range slices.Sorted(maps.Keys(references)) {
		value, err := values.Secret(ctx, references[key])
		if err != nil {
			return Refuse(c.id.String() + ": the value of " + key + " cannot be opened")
		}
		encoded := base64.StdEncoding.EncodeToString(value)
		data[key] = encoded
		c.secrets = append(c.secrets, string(value), encoded)
	}
	return nil
}

// Scrub takes the filled values out of an error, wherever an API server may
// have repeated them.
func (c *Content) Scrub(err error) error {
	if err == nil || len(c.secrets) == 0 {
		return err
	}
	e := &fault.Error{Fault: fault.Of(err), Code: CodeOf(err), Message: err.Error()}
	for _, secret := range c.secrets {
		if secret != "" {
			e.Message = strings.ReplaceAll(e.Message, secret, "…")
		}
	}
	return e // without the cause, which may tell them
}

// JSON is the object as it is sent.
func (c *Content) JSON() ([]byte, error) {
	raw, err := json.Marshal(c.Fields)
	if err != nil {
		return nil, Refuse(c.id.String() + " cannot be written as JSON")
	}
	return raw, nil
}
