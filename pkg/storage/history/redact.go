package history

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// hidden stands where a secret was.
const hidden = "***"

// redacted is a stored document without the ids of its sealed values, and without likely
// secrets that somebody has written into readable fields. Readers of the history are not
// always readers of the document.
func redacted(body []byte) (json.RawMessage, error) {
	var object any
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	return json.Marshal(redact(object))
}

func redact(value any) any {
	switch v := value.(type) {
	case string:
		return redactText(v)
	case []any:
		redactList(v)
	case map[string]any:
		redactObject(v)
	}
	return value
}

func redactObject(object map[string]any) {
	delete(object, "valueRef")
	delete(object, "kubeconfigRef")
	secret := object["kind"] == "Secret"
	name, _ := object["name"].(string)
	for key, value := range object {
		switch {
		case intent.NamesSecret(key), key == "value" && intent.NamesSecret(name):
			object[key] = hide(value)
		case secret && slices.Contains([]string{"data", "stringData"}, key):
			object[key] = hidden
		default:
			object[key] = redact(value)
		}
	}
}

// redactList knows a flag and its value as two items, too.
func redactList(list []any) {
	for n := range list {
		if flag, _ := list[max(n-1, 0)].(string); n > 0 && strings.HasPrefix(flag, "--") && intent.NamesSecret(flag) {
			list[n] = hide(list[n])
		} else {
			list[n] = redact(list[n])
		}
	}
}

// hide hides a value of any kind, except values that reveal nothing, and the fields of
// Kubernetes' objects that say where a secret is.
func hide(value any) any {
	switch v := value.(type) {
	case nil, bool:
		return v
	case map[string]any:
		for key, inner := range v {
			if !slices.Contains(places(), key) {
				v[key] = hide(inner)
			}
		}
		return v
	}
	return hidden
}

// places are the keys by which Kubernetes' objects say where a secret is.
func places() []string {
	return []string{"name", "secretName", "key", "path", "items", "mode", "defaultMode", "audience", "expirationSeconds"}
}

// userinfo is what a URL says of who asks: up to the last @ before its path, for
// a password may have one, too.
var userinfo = regexp.MustCompile(`://[^/?#\s]+@`)

// redactText hides the value of a flag that is named for a secret, and the
// passwords in URLs.
func redactText(text string) string {
	if name, _, is := strings.Cut(text, "="); is && !strings.ContainsAny(name, " \n") && intent.NamesSecret(name) {
		return name + "=" + hidden
	}
	return userinfo.ReplaceAllString(text, "://"+hidden+"@")
}
