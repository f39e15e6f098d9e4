package jsonbody

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/redact"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// marker divides the documents of a YAML stream.
var marker = regexp.MustCompile(`(?m)^(---|\.{3})([ \t\r]|$)`)

// FromYAML is a body of one YAML document as JSON, read as Kubernetes reads
// YAML: no key twice, no aliases that blow up.
func FromYAML(raw []byte) ([]byte, error) {
	refuse := func(detail string) ([]byte, error) {
		return nil, Invalid([]intent.Field{{Detail: detail}})
	}
	if !utf8.Valid(raw) {
		return refuse("is not UTF-8")
	}
	if documents(raw) > 1 {
		return refuse("holds several YAML documents; send one")
	}
	converted, err := safeyaml.ToJSON(raw)
	if err != nil {
		return refuse("is not a valid YAML: " + Clip(strings.Join(strings.Fields(redact.YAML(raw, err)), " ")))
	}
	if bytes.Equal(converted, []byte("null")) {
		return refuse("is empty; send a YAML object")
	}
	return converted, nil
}

// documents counts the documents of a YAML stream that hold more than comments
// and directives.
func documents(raw []byte) int {
	count := 0
	for _, text := range marker.Split(string(raw), -1) {
		if slices.ContainsFunc(strings.Split(text, "\n"), isContent) {
			count++
		}
	}
	return count
}

func isContent(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && line[0] != '#' && line[0] != '%'
}
