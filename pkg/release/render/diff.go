package render

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Planned is what a plan tells of two bundles: their differences, but for
// definitions that are no longer wanted, which stay.
func Planned(before, after bundle.Bundle) []bundle.Change {
	changes := bundle.Diff(before, after)
	for i, c := range changes {
		if c.Action == bundle.Delete && c.ID.Kind == state.DefinitionKind {
			changes[i].Action, changes[i].New = bundle.Unchanged, c.Old
		}
	}
	return changes
}

const (
	maxDiff  = 512 << 10 // bytes of an object, before and after, of which a diff is made
	maxLines = 10_000    // of its YAML, before or after, likewise: the time that a diff takes grows with their product
	maxDiffs = 4 << 20   // bytes of all diffs of a plan
)

// Diffs are the texts of a plan's changes, each made once: an app has the same ones
// on most clusters.
type Diffs struct {
	known map[diffed]string
	size  int
}

// diffed is a change by where its objects are in memory.
type diffed struct {
	before, after *byte
	lengths       [2]int
}

// Of is the text of a change; of what is too long, that it is left out.
func (d *Diffs) Of(c bundle.Change) string {
	if c.Action == bundle.Unchanged {
		return ""
	}
	if len(c.Old)+len(c.New) > maxDiff {
		return fmt.Sprintf("(left out: the object has more than %d KiB)\n", maxDiff>>10)
	}
	if d.size > maxDiffs {
		return fmt.Sprintf("(left out: the plan's diffs have more than %d KiB)\n", maxDiffs>>10)
	}
	key := diffed{first(c.Old), first(c.New), [2]int{len(c.Old), len(c.New)}}
	text, known := d.known[key]
	if !known {
		text = diffText(c)
	}
	if d.known == nil {
		d.known = map[diffed]string{}
	}
	d.known[key] = text
	d.size += len(text)
	return text
}

func first(raw []byte) *byte {
	if len(raw) == 0 {
		return nil
	}
	return &raw[0]
}

// diffText writes a change as a unified diff of the object's YAML, without what
// Secrets hold. An unchanged object has no text.
func diffText(c bundle.Change) string {
	if c.Action == bundle.Unchanged {
		return ""
	}
	if c.ID.Kind == "Secret" && c.ID.Group == "" {
		c.Old, c.New = redacted(c.Old, c.New)
	}
	before, after := yamlLines(c.Old), yamlLines(c.New)
	if min(len(before), len(after)) > maxLines {
		return fmt.Sprintf("(left out: the object has more than %d lines)\n", maxLines)
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: before, B: after, Context: 3})
	if err != nil {
		return err.Error()
	}
	return text
}

func yamlLines(raw []byte) []string {
	if len(raw) == 0 {
		return nil
	}
	text, err := safeyaml.FromJSON(raw)
	if err != nil {
		return []string{string(raw)}
	}
	return difflib.SplitLines(strings.TrimSuffix(string(text), "\n"))
}

// lastApplied is where kubectl notes a whole object, a Secret's values included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redacted are two Secrets, of which one may be missing, without their values. Readers of
// plans see which values change, and none of them.
func redacted(before, after []byte) (hiddenBefore, hiddenAfter []byte) {
	was, is := decoded(before), decoded(after)
	for _, field := range []string{"data", "stringData"} {
		hideEach(was, is, field)
	}
	hide(annotationsOf(was), annotationsOf(is), lastApplied)
	return encoded(before, was), encoded(after, is)
}

func annotationsOf(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations
}

// hideEach puts words in the place of each value of a field of two objects.
func hideEach(was, is map[string]any, field string) {
	valuesWas, _ := was[field].(map[string]any)
	valuesIs, _ := is[field].(map[string]any)
	for key := range valuesWas {
		hide(valuesWas, valuesIs, key)
	}
	for key := range valuesIs {
		if _, told := valuesWas[key]; !told {
			hide(valuesWas, valuesIs, key)
		}
	}
	for _, object := range []map[string]any{was, is} {
		if _, fields := object[field].(map[string]any); !fields && object[field] != nil {
			object[field] = hidden
		}
	}
}

const hidden = "(redacted)"

// hide puts words in the place of a value of two objects, which tell whether it
// changes.
func hide(was, is map[string]any, key string) {
	before, had := was[key]
	after, has := is[key]
	if had {
		was[key] = hidden
	}
	if has {
		is[key] = hidden
	}
	if had && has && !reflect.DeepEqual(before, after) {
		is[key] = "(redacted, changed)"
	}
}

// decoded is an object as its fields; none for what is no object.
func decoded(raw []byte) map[string]any {
	var object map[string]any
	if len(raw) > 0 && json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

func encoded(raw []byte, object map[string]any) []byte {
	if len(raw) == 0 {
		return nil
	}
	out, err := json.Marshal(object)
	if err != nil {
		return fmt.Appendf(nil, "%q", hidden)
	}
	return out
}
