package serve

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// unknownVariables lists the variables SIGNPOST_… of an environment that set nothing,
// each with the known name that is nearest.
func unknownVariables(environment []string, flags *pflag.FlagSet) []string {
	known := []string{variable("secret-key")}
	flags.VisitAll(func(flag *pflag.Flag) { known = append(known, variable(flag.Name)) })
	var found []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		word, is := strings.CutPrefix(name, variable(""))
		if !is || slices.Contains(known, name) || isOthers(word) {
			continue
		}
		if near := nearest.Name(word, withoutPrefix(known)); near != "" {
			name += "; did you mean " + variable(near) + "?"
		}
		found = append(found, name)
	}
	slices.Sort(found)
	return found
}

// isOthers tells whether SIGNPOST_<word> has another reader: a command that calls a
// server. Kubernetes makes some for a Service named signpost.
func isOthers(word string) bool {
	clients := []string{"SERVER", "PROJECT", "TOKEN", "CA_FILE", "CERT_FILE", "KEY_FILE"}
	return slices.Contains(clients, word) || strings.HasPrefix(word, "SERVICE_") || strings.HasPrefix(word, "PORT") ||
		strings.Contains(word, "_SERVICE_") || strings.Contains(word, "_PORT")
}

func withoutPrefix(variables []string) []string {
	words := make([]string, len(variables))
	for i, name := range variables {
		words[i] = strings.TrimPrefix(name, variable(""))
	}
	return words
}
