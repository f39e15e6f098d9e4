// Package redact takes out of errors what may be a secret.
package redact

import (
	"bytes"
	"fmt"
	"regexp"
)

// quoted matches how parsers of YAML quote text that they could not read: values in
// backquotes, and names of anchors, which a value becomes that begins with *.
var quoted = regexp.MustCompile("(?s)`.*`|anchor '.*'")

// tab is an indentation that YAML does not allow.
var tab = regexp.MustCompile(`(?m)^ *\t`)

// YAML is the error of a parser about a text, without the values that it quotes.
// Names of keys stay, and numbers of lines. A tab is named, which parsers call
// something else.
func YAML(text []byte, err error) string {
	said := withoutValues(err)
	if at := tab.FindIndex(text); at != nil && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) { // JSON may have tabs
		said += fmt.Sprintf("; line %d is indented by a tab, which YAML does not allow: use spaces", bytes.Count(text[:at[0]], []byte("\n"))+1)
	}
	return said
}

func withoutValues(err error) string {
	return quoted.ReplaceAllStringFunc(err.Error(), func(found string) string {
		if found[0] == '`' {
			return "a value"
		}
		return "anchor"
	})
}
