package externaldns

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Finding is one error or warning about a record's parameters.
type Finding struct {
	// Parameter is the parameter's name as it was given; of what is missing,
	// the name that it would have.
	Parameter string
	// Pointer is the JSON pointer of the value, relative to the parameters
	// object: "/aws-zone-type", "/domain-filter/1". Empty when the finding is
	// not about a parameter (an environment variable, the provider, the version).
	Pointer string
	// Detail says what is wrong, and what would be right. It never quotes a secret.
	Detail string
}

// about makes a finding on a whole parameter.
func about(parameter, detail string) Finding {
	return Finding{Parameter: parameter, Pointer: pointer(parameter), Detail: detail}
}

// beside makes a finding on something that is no parameter.
func beside(subject, detail string) Finding {
	return Finding{Parameter: subject, Detail: detail}
}

// pointer writes a parameter's name as a JSON pointer (RFC 6901).
func pointer(parameter string) string {
	return "/" + strings.ReplaceAll(strings.ReplaceAll(parameter, "~", "~0"), "/", "~1")
}

// inOrder sorts findings by place, keeping the order of those at one place, so
// that equal input gives equal output.
func inOrder(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return findings
}

// clip quotes a value for a message, shortened to what a reader needs.
func clip(text string) string {
	const longest = 64
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strconv.Quote(text)
}
