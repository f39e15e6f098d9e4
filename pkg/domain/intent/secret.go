package intent

import (
	"slices"
	"strings"
)

// NamesSecret tells whether the name of a variable, a flag or a field says that
// its value is secret, or a list of such. Of several Secrets it is Kubernetes'
// names that are listed.
func NamesSecret(name string) bool {
	plain := strings.ToUpper(strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-.", r) {
			return -1
		}
		return r
	}, name))
	ends := []string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "APIKEY", "ACCESSKEY", "PRIVATEKEY", "AUTHORIZATION"}
	return slices.ContainsFunc(ends, func(end string) bool {
		return strings.HasSuffix(plain, end) || end != "SECRET" && strings.HasSuffix(plain, end+"S")
	})
}
