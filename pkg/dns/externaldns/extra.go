package externaldns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CheckExtraArgs judges arguments that a user adds by hand to the rendered ones.
// Pointers are relative to the list of extra arguments ("/0"). It refuses what is no
// single --flag or --flag=value, what Signpost sets itself, secrets, whose place is a
// credential, and what is [Judged]. Of the flags that the table knows it refuses those of
// other providers, those that the version lacks, and those without effect. A flag that
// external-dns takes once may not be set twice, and its value has to be one that
// external-dns takes. Flags that the table does not know are let through.
func (o Options) CheckExtraArgs(extra, rendered []string) []Finding {
	o.Version = cmp.Or(o.Version, DefaultVersion)
	var findings []Finding
	seen := map[string]bool{}
	for _, argument := range rendered {
		seen[flagName(argument)] = true
	}
	for i, argument := range extra {
		name := flagName(argument)
		detail := loadTable().formDetail(argument, name)
		if flag, known := loadTable().find(name); known && detail == "" {
			detail = o.extraDetail(flag, argument, seen[name])
		}
		if detail != "" {
			findings = append(findings, Finding{Parameter: name, Pointer: fmt.Sprintf("/%d", i), Detail: detail})
		}
		seen[name] = true
	}
	return findings
}

// Judged tells flags that say which names, zones and targets external-dns manages,
// whose they are, and when they go. Whether a release takes others' names, or too
// many away, is judged by the parameters: these flags have no other place.
func Judged(flag string) bool {
	return slices.Contains([]string{
		"aws-zone-type", "azure-resource-group", "azure-subscription-id", "coredns-prefix", "create-ptr", "domain-filter",
		"exclude-domains", "exclude-record-types", "exclude-target-net", "interval", "managed-record-types", "policy",
		"regex-domain-exclusion", "regex-domain-filter", "registry", "rfc2136-create-ptr", "rfc2136-zone",
		"target-net-filter", "txt-owner-id", "txt-prefix", "txt-suffix", "txt-wildcard-replacement",
		"zone-id-filter", "zone-name-filter",
	}, flag)
}

// Unchecked are those of a user's own arguments of which nobody can say whether
// a version takes them: the table does not know their flags.
func Unchecked(extra []string) []string {
	var out []string
	for _, argument := range extra {
		if _, known := loadTable().find(flagName(argument)); !known {
			out = append(out, "--"+flagName(argument))
		}
	}
	return out
}

// formDetail says what is wrong with the form of an argument.
func (t table) formDetail(argument, name string) string {
	if positive, isNo := strings.CutPrefix(name, "no-"); isNo {
		if flag, known := t.find(positive); known {
			return fmt.Sprintf("does not exist: %s is not a boolean", flag.Name)
		}
	}
	if !strings.HasPrefix(argument, "--") || name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return !isASCIILetter(r) && !isDigit(r) && r != '-'
	}) {
		return `must be one argument such as "--flag=value" or "--flag"`
	}
	return ""
}

// extraDetail says what is wrong with an argument for a known flag; empty when
// nothing is.
func (o Options) extraDetail(flag *Flag, argument string, seen bool) string {
	_, text, hasValue := strings.Cut(argument, "=")
	provider := loadTable().provider(o.Provider)
	switch {
	case !provider.takes(flag):
		return provider.foreign(flag)
	case flag.Kind == Reserved:
		return "is set by Signpost itself"
	case flag.Secret:
		return "would expose the secret; give it as a credential for " + flag.Environment()
	case Judged(flag.Name):
		return "is judged as a parameter alone; give the parameter " + flag.Name + " instead"
	case flag.Unused != "":
		return flag.Unused
	case !o.has(flag):
		return o.unfitDetail(flag)
	case flag.Kind == Bool && hasValue:
		return fmt.Sprintf("is a boolean; write --%s or --no-%s", flag.Name, flag.Name)
	case flag.Kind != Bool && text == "":
		return fmt.Sprintf("has no value; write --%s=…", flag.Name)
	case seen && (!flag.List || o.Version < flag.ListSince):
		return "is set already, and external-dns takes it once; set the parameter " + flag.Name
	case flag.Kind == Bool:
		return ""
	default:
		return flag.rawDetail(text)
	}
}

// has tells whether the version knows a flag by this name.
func (o Options) has(flag *Flag) bool {
	return o.Version >= flag.Since && (flag.Removed == 0 || o.Version < flag.Removed)
}

// rawDetail says why external-dns would not accept a value as it is written. external-dns
// is stricter than the parameters about blanks and letter case.
func (f Flag) rawDetail(text string) string {
	result := f.read(text)
	exact := result.text == text
	if f.Kind == Duration || f.Kind == Text || f.Kind == Domain || f.Kind == Network || f.Kind == Host {
		exact = strings.TrimSpace(text) == text
	}
	switch {
	case result.wrong != "":
		return result.wrong
	case result.stuck != "":
		return result.stuck
	case !exact:
		return "must be written as " + clip(result.text)
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
