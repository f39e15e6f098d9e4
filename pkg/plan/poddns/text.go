package poddns

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"

	"github.com/signpost-dns/signpost/pkg/domain/podspec"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// Rewrite is the text of a manifest, YAML or JSON, with the DNS settings that its pods
// have as it was rendered. All else stays as it is written, comments and order included.
// Only if the settings cannot be written into the text so, as when pods come from an
// alias, it is written anew, as JSON. The error is that of a text which holds no
// manifest, or another one.
func Rewrite(text string, rendered Manifest) (string, error) {
	place, ok := podspec.Find(rendered)
	if !ok {
		return "", errors.New("it makes no pods")
	}
	settings, err := plainSettings(podspec.At(rendered, place.Fields))
	if err != nil {
		return "", err
	}
	document, content, err := read(text)
	if err != nil {
		return "", err
	}
	if edited, ok := inPlace(text, document, content, place.Fields, settings); ok {
		return edited, nil
	}
	anew, err := json.MarshalIndent(rendered, "", "  ")
	return string(anew) + "\n", err
}

// inPlace writes the settings into the text as it is; ok is false where that
// does not come out as it should.
func inPlace(text string, document *safeyaml.Node, content Manifest, fields []string, settings Manifest) (edited string, ok bool) {
	pod := podspec.At(content, fields)
	if pod == nil { // its names are no texts
		return "", false
	}
	if edited, ok = inJSON(text, fields, settings); !ok {
		edited, ok = inYAML(text, document, fields, settings)
	}
	if !ok {
		return "", false
	}
	_, got, err := read(edited)
	return edited, err == nil && reflect.DeepEqual(got, replace(content, fields, withPlain(pod, settings)))
}

// plainSettings are the DNS settings of a pod's spec as any decoder has them.
func plainSettings(spec Manifest) (Manifest, error) {
	settings := Manifest{}
	for _, field := range []string{policyField, configField} {
		if value, set := spec[field]; set {
			settings[field] = value
		}
	}
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	plain := Manifest{}
	err = json.Unmarshal(raw, &plain)
	return plain, err
}

// withPlain is a copy of a pod's spec with these settings alone.
func withPlain(spec, settings Manifest) Manifest {
	spec = maps.Clone(spec)
	delete(spec, policyField)
	delete(spec, configField)
	maps.Copy(spec, settings)
	return spec
}

// read finds the only document of a text that holds anything.
func read(text string) (*safeyaml.Node, Manifest, error) {
	documents, err := safeyaml.Documents([]byte(text))
	switch {
	case err != nil:
		return nil, nil, err
	case len(documents) > 1:
		return nil, nil, errors.New("it holds several objects")
	case len(documents) == 0:
		return nil, nil, errors.New("it holds no object")
	}
	content := Manifest{}
	err = documents[0].Decode(&content)
	return documents[0], content, err
}
