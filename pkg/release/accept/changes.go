package accept

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// changesOf says how the specification of a name changes, field by field, as in "changes service from shop/web to shop/front".
// It is empty for a name that is new or goes, and if nothing changes. Events of documents (pkg/storage/history) name the fields
// alone, because other documents have values that nobody may read.
func changesOf(was, is *intent.NameDocument) string {
	if was == nil || is == nil {
		return ""
	}
	before, after := specOf(was), specOf(is)
	fields := maps.Clone(before)
	maps.Copy(fields, after)
	var words []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if reflect.DeepEqual(before[field], after[field]) {
			continue
		}
		from, short := value(before[field])
		to, shortToo := value(after[field])
		if !short || !shortToo || from == to {
			words = append(words, field)
			continue
		}
		words = append(words, fmt.Sprintf("%s from %s to %s", field, from, to))
	}
	if len(words) == 0 {
		return ""
	}
	return "changes " + strings.Join(words, "; ")
}

func specOf(d *intent.NameDocument) map[string]any {
	var body struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal(d.Body, &body) != nil || body.Spec == nil {
		return map[string]any{}
	}
	return body.Spec
}

// value writes a value of a field, if that is short.
func value(of any) (text string, short bool) {
	const longest = 80 // bytes
	switch of := of.(type) {
	case nil:
		text = "nothing"
	case float64:
		text = strconv.FormatFloat(of, 'f', -1, 64)
	case string:
		text = cmp.Or(of, "nothing")
	case bool:
		text = fmt.Sprint(of)
	case []any:
		var items []string
		for _, item := range of {
			one, simple := item.(string)
			if !simple {
				return "", false
			}
			items = append(items, one)
		}
		text = cmp.Or(state.Few(items), "nothing")
	default:
		return "", false
	}
	return text, len(text) <= longest
}
