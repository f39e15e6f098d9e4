package address

import "strings"

// Limits of DNS.
const (
	longestName  = 253
	longestLabel = 63
)

// hostName makes a host name canonical: lower case, no trailing dot. The
// code is empty unless the name may not be published.
func hostName(text string) (name string, why code) {
	name = strings.ToLower(strings.TrimSuffix(text, "."))
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !isLabel(label) {
			return "", invalid
		}
	}
	last := labels[len(labels)-1]
	switch {
	case len(name) > longestName || strings.Trim(last, "0123456789") == "":
		return "", invalid // digits at the end make a broken address
	case last == "localhost":
		return "", localhost
	case len(labels) == 1:
		return "", noDomain
	}
	return name, ""
}

// isLabel tells whether a label may stand in the name of a host. Underscores
// may: some load balancers have them.
func isLabel(label string) bool {
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
	}
	return label != "" && len(label) <= longestLabel && !strings.ContainsFunc(label, odd) &&
		label[0] != '-' && label[len(label)-1] != '-'
}

// clip shortens what was found to what a reader needs, as valid UTF-8.
func clip(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if runes := []rune(text); len(runes) > longestName {
		return string(runes[:longestName]) + "…"
	}
	return text
}
