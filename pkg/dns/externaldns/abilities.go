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
	SetIdentifiers bool // several sets of one name and type, each with a weight
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

// WeightAdvice says what to do where a provider has no set identifiers.
func WeightAdvice() string {
	able := Able(DefaultVersion, func(a Abilities) bool { return a.SetIdentifiers })
	return "external-dns has them for " + strings.Join(able, " and ") + "; give a record of such a provider, or another policy"
}

// SRVAdvice says what to do where SRV records cannot be published.
func SRVAdvice() string {
	able := Able(DefaultVersion, func(a Abilities) bool { return a.SRV })
	return fmt.Sprintf("external-dns %s publishes them for %s; give such a record, or leave SRV out", DefaultVersion, strings.Join(able, ", "))
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
