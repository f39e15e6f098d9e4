package emco

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// Dump is all that etcd holds of a context, as Text lays it out; the context
// itself is called ID.
func (w *World) Dump(ctx context.Context, id string, names map[string]string) (string, error) {
	values, err := w.db.prefix(ctx, contextKey(id))
	called := map[string]string{}
	maps.Copy(called, names)
	called[id] = "ID"
	return Text(values, called), err
}

// Text lays keys and values out for golden files: the keys in order, and below
// each its value. A text is shown behind an arrow, or line by line behind bars,
// all else as it is. The ids in names are replaced by what they are called; what
// an API server makes up is replaced, too.
func Text(values, names map[string]string) string {
	var replacements []string
	for _, id := range sortedKeys(names) {
		replacements = append(replacements, id, names[id])
	}
	called, made := strings.NewReplacer(replacements...), madeUp()
	lines := map[string]string{}
	for key, value := range values {
		lines[called.Replace(key)] = called.Replace(made.ReplaceAllString(show(value), `$1…`))
	}
	var dump strings.Builder
	for _, key := range sortedKeys(lines) {
		fmt.Fprintf(&dump, "%s\n%s", key, lines[key])
	}
	return dump.String()
}

// show lays a value out. What reads back in another way than it was written is
// shown raw, so that no byte goes unseen.
func show(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) != nil {
		return "  " + value + "\n"
	}
	if again, err := json.Marshal(text); err != nil || string(again) != value {
		return "  " + value + "\n"
	}
	if !strings.Contains(text, "\n") {
		return "  > " + text + "\n"
	}
	whole, ended := strings.CutSuffix(text, "\n")
	lines := "  | " + strings.ReplaceAll(whole, "\n", "\n  | ") + "\n"
	if !ended {
		lines += "  (no newline)\n"
	}
	return lines
}

// madeUp are the fields of a status that differ from run to run.
func madeUp() *regexp.Regexp {
	return regexp.MustCompile(`("(?:uid|resourceVersion|creationTimestamp|lastUpdateTime|lastTransitionTime|clusterIP|nodePort)":|"clusterIPs":\[)("[^"]*"|[0-9]+)`)
}
