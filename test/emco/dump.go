package emco

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Dump is all that etcd holds of a context, for golden files: the keys in
// order, and below each its value. A text is shown behind an arrow, or line by
// line behind bars, all else as it is. The context's id, and the ids in names, are replaced by
// what they are called; what an API server makes up is replaced, too.
func (w *World) Dump(ctx context.Context, id string, names map[string]string) (string, error) {
	values, err := w.db.prefix(ctx, contextKey(id))
	if err != nil {
		return "", err
	}
	var dump strings.Builder
	for _, key := range sortedKeys(values) {
		fmt.Fprintf(&dump, "%s\n%s", key, show(values[key]))
	}
	called := []string{id, "ID"}
	for _, other := range sortedKeys(names) {
		called = append(called, other, names[other])
	}
	return strings.NewReplacer(called...).Replace(madeUp().ReplaceAllString(dump.String(), `$1…`)), nil
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
