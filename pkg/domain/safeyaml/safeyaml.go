// Package safeyaml reads YAML that others have written. Aliases are the only part
// of YAML by which a small text becomes a large value, so they are measured before
// anything is decoded. JSON is read, too.
package safeyaml

import (
	"sigs.k8s.io/yaml"
)

// ToJSON is the first document of a text as JSON, read as Kubernetes reads YAML. It
// fails if an object has a key twice.
func ToJSON(text []byte) ([]byte, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSONStrict(text)
}

// Unmarshal decodes the first document of a text into what a pointer leads to, by
// its JSON tags. Fields that are not known are passed over.
func Unmarshal(text []byte, into any) error {
	if err := Check(text); err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

// UnmarshalStrict is Unmarshal, and fails for a key that is given twice or not
// known.
func UnmarshalStrict(text []byte, into any) error {
	if err := Check(text); err != nil {
		return err
	}
	return yaml.UnmarshalStrict(text, into)
}

// FromJSON is JSON as YAML in block style.
func FromJSON(text []byte) ([]byte, error) { return yaml.JSONToYAML(text) }

// Marshal is a value as YAML in block style, by its JSON tags.
func Marshal(value any) ([]byte, error) { return yaml.Marshal(value) }
