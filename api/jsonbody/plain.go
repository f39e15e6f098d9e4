package jsonbody

import (
	"bytes"
	"encoding/json"
	"strings"
)

// plain decodes a body as [carefully] would, in a third of the time, when there is
// nothing to refuse and nothing to rewrite in it. ok is false for all others.
func plain(raw []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil || len(bytes.Trim(raw[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, false
	}
	members, ok := count(value, 0)
	return value, ok && members == colons(raw) // fewer where a key is given twice
}

// count tells how many members all objects of a value have together; ok is false
// when it is nested too deep, or holds a number that may have to be rewritten.
func count(value any, depth int) (members int, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		members, ok = len(v), depth < maxDepth
		for _, member := range v {
			more, fine := count(member, depth+1)
			members, ok = members+more, ok && fine
		}
		return members, ok
	case []any:
		ok = depth < maxDepth
		for _, item := range v {
			more, fine := count(item, depth+1)
			members, ok = members+more, ok && fine
		}
		return members, ok
	case json.Number:
		return 0, !strings.ContainsAny(string(v), ".eE")
	}
	return 0, true
}

// colons counts those of a JSON text that are not quoted: one for each member.
func colons(raw []byte) int {
	found, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '"':
			quoted = !quoted
		case quoted && raw[i] == '\\':
			i++ // what it escapes
		case !quoted && raw[i] == ':':
			found++
		}
	}
	return found
}
