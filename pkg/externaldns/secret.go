package externaldns

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Secret is a secret parameter with its value: keep it as a credential that
// sets Environment, write-only.
type Secret struct {
	Parameter   string // rfc2136-tsig-secret
	Environment string // EXTERNAL_DNS_RFC2136_TSIG_SECRET
	Value       string
}

// String hides the value, so that no log shows it.
func (s Secret) String() string { return s.Environment + "=***" }

// GoString hides the value, so that no %#v shows it.
func (s Secret) GoString() string { return s.String() }

// TakeSecrets parts the secret parameters from the others: public is a copy
// without any of them, secrets are those that have a value, by name. Call it
// once [Check] found no error; values that Check refuses are dropped.
func TakeSecrets(parameters Parameters) (public Parameters, secrets []Secret) {
	public = maps.Clone(parameters)
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		flag, ok := loadTable().find(name)
		if !ok || !flag.Secret {
			continue
		}
		delete(public, name)
		if all, _ := items(parameters[name]); len(all) == 1 {
			if result := flag.read(all[0]); result.text != "" {
				secrets = append(secrets, Secret{Parameter: name, Environment: flag.Environment(), Value: result.text})
			}
		}
	}
	return public, secrets
}

// CheckExtraArgs judges arguments that a user adds by hand to the rendered ones.
// Pointers are relative to the list of extra arguments ("/0"). Refused are: what
// is no single --flag or --flag=value, what Signpost sets itself, secrets (their
// place is a credential), and a repetition of a flag that external-dns takes
// once. Flags that the table does not know are let through.
func CheckExtraArgs(extra, rendered []string) []Finding {
	var findings []Finding
	seen := map[string]bool{}
	for _, argument := range rendered {
		seen[flagName(argument)] = true
	}
	for i, argument := range extra {
		name := flagName(argument)
		if detail := extraDetail(argument, name, seen); detail != "" {
			findings = append(findings, Finding{Parameter: name, Pointer: fmt.Sprintf("/%d", i), Detail: detail})
		}
		seen[name] = true
	}
	return findings
}

// extraDetail says what is wrong with one extra argument; empty when nothing is.
func extraDetail(argument, name string, seen map[string]bool) string {
	_, _, hasValue := strings.Cut(argument, "=")
	flag, known := loadTable().find(name)
	switch {
	case !strings.HasPrefix(argument, "--") || name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return !isASCIILetter(r) && !isDigit(r) && r != '-'
	}):
		return `must be one argument such as "--flag=value" or "--flag"`
	case !known:
		return ""
	case flag.Kind == Reserved:
		return "is set by Signpost itself"
	case flag.Secret:
		return "would show the secret; give it as a credential for " + flag.Environment()
	case flag.Kind == Bool && hasValue:
		return fmt.Sprintf("is a boolean; write --%s or --no-%s", name, name)
	case flag.Kind != Bool && !hasValue:
		return fmt.Sprintf("has no value; write --%s=…", name)
	case seen[name] && !flag.List:
		return "is set already, and external-dns takes it once; set the parameter " + name
	default:
		return ""
	}
}

// flagName is the name of the flag that an argument sets, the plain form of a
// known boolean's no- form.
func flagName(argument string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
	if flag, negated, ok := loadTable().lookup(name); ok && negated {
		return flag.Name
	}
	return name
}
