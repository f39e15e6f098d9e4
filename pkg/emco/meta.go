package emco

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Meta is a context's description: the fields that Signpost knows, and all of
// it as it is written. A field that is not there is empty.
type Meta struct {
	Project               string
	CompositeApp          string
	Version               string
	Release               string
	DeploymentIntentGroup string
	Namespace             string
	Level                 string
	ChildContextIDs       []string
	LogicalCloud          string
	LogicalCloudNamespace string
	LogicalCloudLevel     string

	Raw json.RawMessage
}

// parseMeta reads fields by their exact names: a struct would take them in
// other letter cases as well.
func parseMeta(raw []byte) (Meta, error) {
	m := Meta{Raw: raw}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return Meta{}, fmt.Errorf("it is not a JSON object")
	}
	for name, into := range map[string]any{
		"Project": &m.Project, "CompositeApp": &m.CompositeApp, "Version": &m.Version, "Release": &m.Release,
		"DeploymentIntentGroup": &m.DeploymentIntentGroup, "Namespace": &m.Namespace, "Level": &m.Level,
		childrenField: &m.ChildContextIDs, "LogicalCloud": &m.LogicalCloud,
		"LogicalCloudNamespace": &m.LogicalCloudNamespace, "LogicalCloudLevel": &m.LogicalCloudLevel,
	} {
		if value, ok := fields[name]; ok {
			if err := json.Unmarshal(value, into); err != nil {
				return Meta{}, fmt.Errorf("/%s is %.40s, of another type", name, value)
			}
		}
	}
	return m, nil
}

// Meta answers the description of a context, also of one that EMCO has not written whole.
// Errors have the code Invalid for an id that is none, or NotFound. They have Conflict
// for a context without meta or with one that cannot be read.
func (s *Store) Meta(ctx context.Context, id string) (Meta, error) {
	if err := checkID(id); err != nil {
		return Meta{}, err
	}
	root, _, err := s.kv.Get(ctx, contextKey(id))
	if err != nil {
		return Meta{}, err
	}
	if root == nil {
		return Meta{}, absent(id)
	}
	item, _, err := s.kv.Get(ctx, metaKey(id))
	if err != nil {
		return Meta{}, err
	}
	if item == nil {
		return Meta{}, withoutMeta(id)
	}
	return metaOf(id, item.Value)
}

// metaOf parses the meta of a context.
func metaOf(id string, raw []byte) (Meta, error) {
	m, err := parseMeta(raw)
	if err != nil {
		return Meta{}, about(id, intent.Conflict, "has a meta that cannot be read: %v", err)
	}
	return m, nil
}

const childrenField = "ChildContextIDs"

// withField is a JSON object with one field of another value. Every other byte
// stays; a field that is not there is added at the end.
func withField(object []byte, field string, value any) ([]byte, error) {
	replacement, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("%.40q is not a JSON object", object)
	}
	from, to, empty := -1, -1, true
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var old json.RawMessage
		if err := decoder.Decode(&old); err != nil {
			return nil, err
		}
		empty = false
		if name == field { // the last one counts, as for all who read it
			to = int(decoder.InputOffset())
			from = to - len(old)
		}
	}
	if from < 0 {
		if _, err := decoder.Token(); err != nil {
			return nil, err
		}
		from = int(decoder.InputOffset()) - 1
		to = from
		replacement = append([]byte(`"`+field+`":`), replacement...)
		if !empty {
			replacement = append([]byte{','}, replacement...)
		}
	}
	return bytes.Join([][]byte{object[:from], replacement, object[to:]}, nil), nil
}
