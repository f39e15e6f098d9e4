package release

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/bundle"
)

// diffText writes a change as a unified diff of the object's YAML. An
// unchanged object has no text.
func diffText(c bundle.Change) string {
	if c.Action == bundle.Unchanged {
		return ""
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: yamlLines(c.Old), B: yamlLines(c.New), Context: 3})
	if err != nil {
		return err.Error()
	}
	return text
}

func yamlLines(raw []byte) []string {
	if len(raw) == 0 {
		return nil
	}
	text, err := yaml.JSONToYAML(raw)
	if err != nil {
		return []string{string(raw)}
	}
	return difflib.SplitLines(strings.TrimSuffix(string(text), "\n"))
}
