package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// changed says in words where two documents differ, by JSON pointers.
func changed(before, after []byte) string {
	const most = 10
	var was, is any
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return ""
	}
	pointers := differences("", was, is)
	if len(pointers) == 0 {
		return ""
	}
	text := "changes " + strings.Join(pointers[:min(most, len(pointers))], ", ")
	if more := len(pointers) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// differences are the pointers, below one, to the differences between two values, in
// order. If only one of the two has a field, the pointer to that field is all.
func differences(at string, was, is any) []string {
	if reflect.DeepEqual(was, is) {
		return nil
	}
	var found []string
	switch old := was.(type) {
	case map[string]any:
		now, same := is.(map[string]any)
		if !same {
			return []string{at}
		}
		keys := maps.Clone(old)
		maps.Copy(keys, now)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			found = append(found, member(at+"/"+escape(key), old, now, key)...)
		}
		return found
	case []any:
		now, same := is.([]any)
		if !same || len(now) != len(old) {
			return []string{at}
		}
		for n := range old {
			found = append(found, differences(at+"/"+strconv.Itoa(n), old[n], now[n])...)
		}
		return found
	}
	return []string{at}
}

// member compares what two objects have under a key.
func member(at string, was, is map[string]any, key string) []string {
	old, had := was[key]
	now, has := is[key]
	if had != has {
		return []string{at}
	}
	return differences(at, old, now)
}

// escape writes a key as a part of a pointer, and no more of it than is read.
func escape(key string) string {
	const longest = 100
	if len(key) > longest {
		key = strings.ToValidUTF8(key[:longest], "") + "…"
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
