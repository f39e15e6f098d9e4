package intent

import "strings"

// NamesSecret tells whether the name of a variable, a flag or a field says that
// its value is secret, or a list of such. Of several Secrets it is Kubernetes'
// names that are listed.
func NamesSecret(name string) bool {
	plain := strings.ToUpper(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	for _, end := range []string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "APIKEY", "ACCESSKEY", "PRIVATEKEY", "AUTHORIZATION"} {
		if strings.HasSuffix(plain, end) || end != "SECRET" && strings.HasSuffix(plain, end+"S") {
			return true
		}
	}
	return false
}
