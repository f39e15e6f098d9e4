package externaldns

import (
	"fmt"
	"slices"
	"strings"
)

// Abilities are the abilities of a release of external-dns with a provider's names,
// beyond A, AAAA and CNAME of one set each. If external-dns cannot know them, as for a
// webhook, there are none.
type Abilities struct {
	SetIdentifiers bool // several sets of one name and type, each with a weight, a region or a location
	SRV            bool // SRV records are published, changed and deleted
	RootedSRV      bool // the host in an SRV record is written with a final dot
	Wildcards      bool // names that begin with "*." are answered
	DualStack      bool // A and AAAA of one name stay as they are between two changes
	Remarks        bool // a changed mark takes the place of the one that was there
	Subtree        bool // a name is answered with the records of all names below it, too
}

// AbilitiesOf are those of a provider ("aws") in a release; an unknown provider
// has those of a webhook.
func AbilitiesOf(provider string, v Version) Abilities {
	row := loadTable().provider(provider)
	refused := v >= V021 && v < V022 // its source of DNSEndpoints refuses the final dot that other sources need
	srv := row.srv != 0 && v >= row.srv && !refused
	return Abilities{
		SetIdentifiers: row.sets, SRV: srv, RootedSRV: srv && v >= V022,
		Wildcards: !row.noWildcard, DualStack: !row.keys, Remarks: row.remarks, Subtree: row.keys,
	}
}

// SetsAdvice says what to do where a provider has no set identifiers.
func SetsAdvice() string {
	able := Able(DefaultVersion, func(a Abilities) bool { return a.SetIdentifiers })
	return "external-dns has them for " + strings.Join(able, " and ") + "; give a record of such a provider, or another policy"
}

// Able lists the providers whose names have an ability in a release, sorted.
func Able(v Version, has func(Abilities) bool) []string {
	var names []string
	for _, name := range Providers() {
		if has(AbilitiesOf(name, v)) {
			names = append(names, name)
		}
	}
	return names
}

// Managed are the types of records that external-dns publishes: those of the
// parameter, else A, AAAA and CNAME, without those that another excludes.
func Managed(parameters Parameters) []string {
	types := Values(parameters, "managed-record-types")
	if len(types) == 0 {
		types = []string{"A", "AAAA", "CNAME"}
	}
	excluded := Values(parameters, "exclude-record-types")
	return slices.DeleteFunc(types, func(kind string) bool { return slices.Contains(excluded, kind) })
}

// MarksApex tells whether external-dns can mark a zone's own name within the zone. Its
// TXT registry puts a word before the first label, which makes a name beside the zone,
// unless a prefix ends in a dot.
func MarksApex(parameters Parameters) bool {
	registry, prefix := Values(parameters, "registry"), Values(parameters, "txt-prefix")
	return len(registry) > 0 && registry[0] != "txt" || len(prefix) > 0 && strings.HasSuffix(prefix[0], ".")
}

// RecordTypes are the types of records that a name may have beside those of addresses,
// sorted.
func RecordTypes() []string { return []string{"CAA", "MX", "NS", "PTR", "SRV", "TXT"} }

// Publishes tells whether a release of external-dns publishes, changes and deletes records
// of a type for a provider. The type is one of [RecordTypes].
func Publishes(provider, kind string, v Version) bool {
	if kind == "SRV" {
		return AbilitiesOf(provider, v).SRV
	}
	since, has := loadTable().provider(provider).keeps.types[kind]
	return has && v >= since
}

// TypeAdvice says what to do where records of a type cannot be published.
func TypeAdvice(kind string) string {
	able := slices.DeleteFunc(Providers(), func(name string) bool { return !Publishes(name, kind, DefaultVersion) })
	writers := slices.DeleteFunc(BuiltIn(), func(name string) bool { return !Writes(name, kind) })
	text, lone := strings.Join(able, ", "), "leave them out"
	if len(able) == 0 {
		text = "no provider"
	}
	if len(writers) > 0 {
		text += ", and the built-in publisher writes them for " + strings.Join(writers, ", ")
	}
	if len(able)+len(writers) > 0 {
		lone = "give such a provider, or leave them out"
	}
	return fmt.Sprintf("external-dns %s publishes them for %s; %s", DefaultVersion, text, lone)
}

// Written are those of [RecordTypes] that Signpost's own publisher writes for a provider.
func Written(provider string) []string {
	return slices.Clone(loadTable().provider(provider).keeps.writes)
}

// Writes tells whether Signpost's own publisher writes records of a type for a provider.
// The type is one of [RecordTypes].
func Writes(provider, kind string) bool { return slices.Contains(Written(provider), kind) }

// WriteText is the text of a TXT record in the form that a provider's external-dns takes.
func WriteText(provider, text string) string {
	if !loadTable().provider(provider).keeps.quoted {
		return text
	}
	return QuoteText(text)
}

// longestString is how many bytes a string of a TXT record holds.
const longestString = 255

// QuoteText is a text as the strings of a TXT record in a zone file.
func QuoteText(text string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var parts []string
	for len(text) > longestString {
		parts, text = append(parts, `"`+escape.Replace(text[:longestString])+`"`), text[longestString:]
	}
	return strings.Join(append(parts, `"`+escape.Replace(text)+`"`), " ")
}

// ReadText is the text that [WriteText] has written, in any form.
func ReadText(written string) string {
	if !strings.HasPrefix(written, `"`) {
		return written
	}
	var text strings.Builder
	for inside, i := false, 0; i < len(written); i++ {
		switch c := written[i]; {
		case c == '"':
			inside = !inside
		case c == '\\' && i+1 < len(written):
			i++
			text.WriteByte(written[i])
		case inside:
			text.WriteByte(c)
		}
	}
	return text.String()
}

// UnwritableText is why a provider's external-dns cannot keep a text in a TXT record;
// empty if it can.
func UnwritableText(provider, text string) string {
	if !loadTable().provider(provider).keeps.quoted && (len(text) > longestString || strings.ContainsAny(text, " \t;\"\\()")) {
		return "keeps only texts of at most 255 characters without blanks, quotes, backslashes, parentheses and semicolons; external-dns would change others again and again"
	}
	return ""
}
