package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	kjson "sigs.k8s.io/json"
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
	return readHead(o.JSON)
}

// readHead reads the head of an object. Fields count by their exact names, as in Kubernetes. Go's own decoder would accept
// other letter cases as well. Then a manifest might mean one thing to the checks and
// another to the API server.
func readHead(object []byte) (Head, error) {
	var fields struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name        string            `json:"name"`
			Namespace   string            `json:"namespace"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(object, &fields)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		err = fmt.Errorf("%s: a %s is expected in place of the %s", wrong.Field, expected(wrong), wrong.Value)
	}
	m := fields.Metadata
	return Head{fields.APIVersion, fields.Kind, m.Name, m.Namespace, m.Labels, m.Annotations}, err
}

// expected is what belongs where a value of another type is. Field does not tell the keys of labels and annotations.
func expected(wrong *json.UnmarshalTypeError) string {
	if wrong.Type.Kind() == reflect.String {
		return "string"
	}
	return "JSON object"
}

// headText is a canonical object without all fields but those of its head.
func headText(canonical []byte) []byte {
	var text bytes.Buffer
	begin := byte('{')
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		if value := field(canonical, name); value != nil {
			text.WriteByte(begin)
			text.WriteString(`"` + name + `":`)
			text.Write(value)
			begin = ','
		}
	}
	if begin == '{' {
		text.WriteByte(begin)
	}
	text.WriteByte('}')
	return text.Bytes()
}
