package release

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/bundle"
)

// definitionKind is the kind of what makes a kind known. It may be in use by
// others, so it is never deleted.
const definitionKind = "CustomResourceDefinition"

// planned is what a plan tells of two bundles: their differences, but for
// definitions that are no longer wanted, which stay.
func planned(before, after bundle.Bundle) []bundle.Change {
	changes := bundle.Diff(before, after)
	for i, c := range changes {
		if c.Action == bundle.Delete && c.ID.Kind == definitionKind {
			changes[i].Action, changes[i].New = bundle.Unchanged, c.Old
		}
	}
	return changes
}

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
