package poddns

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// inYAML writes the DNS settings of pods into a YAML text in block style, in front of the
// other fields of their spec. If that spec is written in another way, ok is false.
func inYAML(text string, document *safeyaml.Node, fields []string, settings Manifest) (edited string, ok bool) {
	spec := document
	for _, field := range fields {
		if spec = valueOf(spec, field); spec == nil {
			return "", false
		}
	}
	if spec.Kind != safeyaml.MappingNode || spec.Style&safeyaml.FlowStyle != 0 || len(spec.Content) == 0 || merges(spec) {
		return "", false
	}
	added, err := safeyaml.Marshal(settings)
	if err != nil {
		return "", false
	}
	lines := slices.Collect(strings.Lines(text))
	first := spec.Content[0]
	indent := strings.Repeat(" ", first.Column-1)
	var out strings.Builder
	dropped := extents(lines, spec)
	before := first.Line - 1
	for before > 0 && strings.HasPrefix(strings.TrimLeft(lines[before-1], " "), "#") {
		before--
	}
	for n, line := range lines {
		if n == before {
			for setting := range strings.Lines(string(added)) {
				out.WriteString(indent + setting)
			}
		}
		if !dropped[n] {
			out.WriteString(line)
		}
	}
	return out.String(), true
}

// merges tells whether a mapping takes fields over from another: Kubernetes'
// decoder lets those that come later count.
func merges(mapping *safeyaml.Node) bool {
	return slices.ContainsFunc(mapping.Content, func(n *safeyaml.Node) bool { return n.Tag == "!!merge" })
}

// valueOf is a field of a mapping, nil where there is none.
func valueOf(mapping *safeyaml.Node, field string) *safeyaml.Node {
	if mapping.Kind != safeyaml.MappingNode {
		return nil
	}
	for n := 0; n+1 < len(mapping.Content); n += 2 {
		if mapping.Content[n].Value == field {
			return mapping.Content[n+1]
		}
	}
	return nil
}

// extents are the lines, from 0, that hold the DNS settings of a pod's spec. Each goes
// from its name to the last line with a deeper indent.
func extents(lines []string, spec *safeyaml.Node) map[int]bool {
	in := map[int]bool{}
	for n := 0; n < len(spec.Content); n += 2 {
		name := spec.Content[n]
		if name.Value != policyField && name.Value != configField {
			continue
		}
		last := name.Line - 1
		for at := name.Line; at < len(lines); at++ {
			content := strings.TrimLeft(lines[at], " ")
			if strings.TrimSpace(content) == "" || content[0] == '#' {
				continue
			}
			if len(lines[at])-len(content) < name.Column {
				break
			}
			last = at
		}
		for at := name.Line - 1; at <= last; at++ {
			in[at] = true
		}
	}
	return in
}
