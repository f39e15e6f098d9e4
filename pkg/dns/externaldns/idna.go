package externaldns

import (
	"strings"

	"golang.org/x/net/idna"
)

// External-dns compares names in their Unicode form, so "xn--mnchen-3ya.example"
// is matched by the domain "münchen.example" and the other way round.

// unicodeNames gives the Unicode form of each name.
func unicodeNames(names []string) []string {
	for i, name := range names {
		if name != "." {
			names[i] = toUnicode(name)
		}
	}
	return names
}

// toUnicode lowers a name, cuts its final dot and decodes its "xn--" labels;
// one that cannot be decoded stays as it is.
func toUnicode(name string) string {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(name, ".")), ".")
	for i, label := range labels {
		if decoded, err := idna.Punycode.ToUnicode(label); err == nil {
			labels[i] = decoded
		}
	}
	return strings.Join(labels, ".")
}
