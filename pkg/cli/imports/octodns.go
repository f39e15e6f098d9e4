package imports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// octoDefaultTTL is the TTL of records of OctoDNS that say none.
const octoDefaultTTL = 3600

// octoReader reads a zone file of OctoDNS.
type octoReader struct {
	file     string
	zone     zone.Zone
	findings []Finding
}

// ReadOctoDNS reads a zone file of OctoDNS, whose zone has the given name. The findings are
// records that have no place in a zone file. An error says in which line and column it is.
func ReadOctoDNS(text []byte, file, name string) (zone.Zone, []Finding, error) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	r := &octoReader{file: file, zone: zone.Zone{Name: name}}
	documents, err := safeyaml.Documents(text)
	switch {
	case err != nil:
		return zone.Zone{}, nil, fmt.Errorf("%s: %w", file, err)
	case len(documents) != 1:
		return zone.Zone{}, nil, fmt.Errorf("%s has %d documents; a zone of OctoDNS is one", file, len(documents))
	case documents[0].Kind != safeyaml.MappingNode:
		return zone.Zone{}, nil, r.at(documents[0], "is not a zone of OctoDNS, which has the names of records as keys")
	}
	if err := r.names(documents[0]); err != nil {
		return zone.Zone{}, nil, err
	}
	return r.zone, r.findings, nil
}

func (r *octoReader) at(n *safeyaml.Node, text string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", r.file, n.Line, n.Column, fmt.Sprintf(text, args...))
}

func (r *octoReader) names(top *safeyaml.Node) error {
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], followed(top.Content[i+1])
		name := r.zone.Name
		if key.Value != "" {
			name = strings.ToLower(key.Value) + "." + r.zone.Name
		}
		records := []*safeyaml.Node{value}
		if value.Kind == safeyaml.SequenceNode {
			records = value.Content
		}
		for _, record := range records {
			if err := r.record(name, followed(record)); err != nil {
				return err
			}
		}
	}
	return nil
}

// record reads the values of a name and type.
func (r *octoReader) record(name string, n *safeyaml.Node) error {
	if n.Kind != safeyaml.MappingNode {
		return r.at(n, "the record of %s is no object with type and values", name)
	}
	kind := strings.ToUpper(scalar(field(n, "type")))
	if kind == "" {
		return r.at(n, "the record of %s has no type", name)
	}
	for _, unusual := range []string{"geo", "dynamic"} {
		if at := field(n, unusual); at != nil {
			r.findings = append(r.findings, Finding{Outcome: Left, Name: name, Type: kind, Where: r.place(at),
				Reason: "answers differ by place or health (" + unusual + "), which is not imported; publish the name with routing or health"})
			return nil
		}
	}
	ttl := int64(octoDefaultTTL)
	if at := field(n, "ttl"); at != nil {
		var err error
		if ttl, err = strconv.ParseInt(scalar(at), 10, 64); err != nil || ttl < 0 {
			return r.at(at, "the ttl of %s is no number of seconds", name)
		}
	}
	values, err := r.valuesOf(name, n)
	if err != nil {
		return err
	}
	for _, value := range values {
		text, err := r.presented(kind, value)
		if err != nil {
			return err
		}
		if len(r.zone.Records) == zone.MostRecords {
			return r.at(value, "the zone has more than %d records; divide it, and import its parts", zone.MostRecords)
		}
		r.zone.Records = append(r.zone.Records, zone.Record{Name: name, Type: kind, TTL: ttl, Value: text})
	}
	return nil
}

// valuesOf are the values of a record: of the key values, which may hold only one, or value.
func (r *octoReader) valuesOf(name string, n *safeyaml.Node) ([]*safeyaml.Node, error) {
	several, single := field(n, "values"), field(n, "value")
	switch {
	case several != nil && several.Kind == safeyaml.SequenceNode:
		return several.Content, nil
	case several != nil:
		return []*safeyaml.Node{several}, nil
	case single != nil && single.Kind == safeyaml.SequenceNode:
		return single.Content, nil
	case single != nil:
		return []*safeyaml.Node{single}, nil
	}
	return nil, r.at(n, "the record of %s has neither value nor values", name)
}

// octoFields are the fields of values that are objects, in the order of a zone file. Of
// two names in one place, the second is an older one.
func octoFields(kind string) [][]string {
	switch kind {
	case "MX":
		return [][]string{{"preference", "priority"}, {"exchange", "value"}}
	case "SRV":
		return [][]string{{"priority"}, {"weight"}, {"port"}, {"target"}}
	case "CAA":
		return [][]string{{"flags"}, {"tag"}, {"value"}}
	}
	return nil
}

// presented is a value as a zone file would have it.
func (r *octoReader) presented(kind string, n *safeyaml.Node) (string, error) {
	n = followed(n)
	if n.Kind == safeyaml.ScalarNode {
		if kind == "TXT" || kind == "SPF" {
			return zone.Quote(octoText(n.Value)), nil
		}
		return n.Value, nil
	}
	fields := octoFields(kind)
	if n.Kind != safeyaml.MappingNode {
		return "", r.at(n, "a value of type %s is a text or an object", kind)
	}
	if fields == nil {
		return "", nil // a type that is reported and left, with values in a form of its own
	}
	var parts []string
	for _, names := range fields {
		at := slices.IndexFunc(names, func(name string) bool { return field(n, name) != nil })
		if at < 0 && names[0] == "flags" {
			parts = append(parts, "0") // as OctoDNS has it
			continue
		}
		if at < 0 {
			return "", r.at(n, "a value of type %s has no %s", kind, names[0])
		}
		part := scalar(field(n, names[at]))
		if kind == "CAA" && names[0] == "value" {
			part = zone.Quote(part)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " "), nil
}

// octoText is a text as OctoDNS has it: its chunks may be in quotes, and its semicolons behind backslashes.
func octoText(value string) string {
	if inner, quoted := strings.CutPrefix(value, `"`); quoted {
		value = strings.TrimSuffix(inner, `"`)
	}
	return strings.ReplaceAll(strings.ReplaceAll(value, `" "`, ""), `\;`, ";")
}

func (r *octoReader) place(n *safeyaml.Node) string {
	return fmt.Sprintf("%s:%d:%d", r.file, n.Line, n.Column)
}

// field is the value of a key of an object; nil if it has none.
func field(n *safeyaml.Node, name string) *safeyaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return followed(n.Content[i+1])
		}
	}
	return nil
}

// followed is the node that an alias stands for, else the node.
func followed(n *safeyaml.Node) *safeyaml.Node {
	if n.Kind == safeyaml.AliasNode {
		return n.Alias
	}
	return n
}

func scalar(n *safeyaml.Node) string {
	if n == nil || n.Kind != safeyaml.ScalarNode {
		return ""
	}
	return n.Value
}
