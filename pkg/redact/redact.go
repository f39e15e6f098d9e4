// Package redact takes out of errors what may be a secret.
package redact

import "regexp"

// quoted is how parsers of YAML quote what they could not read: values in
// backquotes, and names of anchors, as which a value counts that begins with *.
var quoted = regexp.MustCompile("(?s)`.*`|anchor '.*'")

// YAML is the text of an error from a parser of YAML, without the values that it
// quotes. Names of keys stay, and numbers of lines.
func YAML(err error) string {
	return quoted.ReplaceAllStringFunc(err.Error(), func(found string) string {
		if found[0] == '`' {
			return "a value"
		}
		return "anchor"
	})
}
