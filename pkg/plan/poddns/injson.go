package poddns

import (
	"encoding/json"
	"slices"
	"strings"
)

// inJSON writes the DNS settings of pods into a JSON text, in front of the other fields
// of their spec. If the text is not JSON, ok is false.
func inJSON(text string, fields []string, settings Manifest) (edited string, ok bool) {
	from, to := 0, len(text)
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return "", false
	}
	for _, field := range fields {
		members, ok := membersOf(text[from:to])
		at := slices.IndexFunc(members, func(m member) bool { return m.name == field })
		if !ok || at < 0 {
			return "", false
		}
		from, to = from+members[at].value, from+members[at].end
	}
	spec, ok := withMembers(text[from:to], settings)
	return text[:from] + spec + text[to:], ok
}

// member is one of a JSON object's, with offsets into its text.
type member struct {
	name              string
	begin, value, end int
}

// membersOf takes a JSON object apart.
func membersOf(object string) ([]member, bool) {
	decoder := json.NewDecoder(strings.NewReader(object))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	var members []member
	for decoder.More() {
		begin := skip(object, decoder.InputOffset(), " \t\r\n,")
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		value := skip(object, decoder.InputOffset(), " \t\r\n:")
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return nil, false
		}
		text, _ := name.(string)
		members = append(members, member{name: text, begin: begin, value: value, end: int(decoder.InputOffset())})
	}
	return members, true
}

func skip(text string, from int64, these string) int {
	rest := text[from:]
	return len(text) - len(strings.TrimLeft(rest, these))
}

// withMembers is a JSON object with the DNS settings in place of its own, and
// with the spaces that it had between the others.
func withMembers(object string, settings Manifest) (string, bool) {
	members, ok := membersOf(object)
	if !ok || len(members) == 0 {
		return "", false
	}
	first := members[0].begin
	space := object[strings.IndexByte(object, '{')+1 : first]
	var all []string
	for _, field := range []string{configField, policyField} {
		if value, set := settings[field]; set {
			raw, err := json.Marshal(value)
			if err != nil {
				return "", false
			}
			all = append(all, `"`+field+`":`+string(raw))
		}
	}
	out := object[:first] + strings.Join(all, ","+space)
	between := "," + space
	for n, m := range members {
		if n > 0 && between == "" {
			between = object[members[n-1].end:m.begin]
		}
		if m.name != policyField && m.name != configField {
			out += between + object[m.begin:m.end]
			between = ""
		}
	}
	return out + object[members[len(members)-1].end:], true
}
