package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Head is what tells an object from others, and how it is marked.
type Head struct {
	APIVersion  string
	Kind        string
	Name        string
	Namespace   string
	Labels      map[string]string
	Annotations map[string]string
}

// Head reads the object's head. Nobody may change its maps.
func (o Object) Head() (Head, error) {
	if o.head != nil {
		return *o.head, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(o.JSON, &fields); err != nil {
		return Head{}, err
	}
	return headIn(func(name string) json.RawMessage { return fields[name] })
}

// headIn reads the head from an object's fields.
func headIn(field func(name string) json.RawMessage) (Head, error) {
	var text bytes.Buffer
	begin := byte('{')
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		if value := field(name); value != nil {
			text.WriteByte(begin)
			text.WriteString(`"` + name + `":`)
			text.Write(value)
			begin = ','
		}
	}
	if begin == '{' {
		return Head{}, nil
	}
	text.WriteByte('}')
	decoder := json.NewDecoder(&text)
	decoder.UseNumber() // of any size
	var content map[string]any
	if err := decoder.Decode(&content); err != nil {
		return Head{}, err
	}
	return headOf(content)
}

// headOf reads fields by their exact names, as Kubernetes does. A struct would accept
// other letter cases as well. Then a manifest might mean one thing to the checks and
// another to the API server.
func headOf(content map[string]any) (h Head, err error) {
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range []struct {
		into *string
		from map[string]any
		name string
	}{
		{&h.APIVersion, content, "apiVersion"}, {&h.Kind, content, "kind"},
		{&h.Name, metadata, "name"}, {&h.Namespace, metadata, "namespace"},
	} {
		if value := field.from[field.name]; value != nil {
			text, ok := value.(string)
			if !ok {
				return h, fmt.Errorf("%s is not a string", field.name)
			}
			*field.into = text
		}
	}
	if h.Labels, err = texts(metadata, "labels"); err != nil {
		return h, err
	}
	h.Annotations, err = texts(metadata, "annotations")
	return h, err
}

func texts(metadata map[string]any, name string) (map[string]string, error) {
	inner, _ := metadata[name].(map[string]any)
	if len(inner) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(inner))
	for key, value := range inner {
		text, ok := value.(string)
		if !ok && value != nil {
			return nil, fmt.Errorf("%s.%s is not a string", name, key)
		}
		out[key] = text
	}
	return out, nil
}
