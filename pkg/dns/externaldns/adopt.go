package externaldns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Unadoptable is why the external-dns of a provider cannot take over names that another
// one has marked as its own; empty if it can. [Options.Adopt] has the consequences.
func Unadoptable(record Record, v Version) string {
	if !AbilitiesOf(record.Provider, v).Remarks {
		able := Able(v, func(a Abilities) bool { return a.Remarks })
		why := fmt.Sprintf("with provider %s, external-dns %s cannot replace a mark; it can with %s. ", record.Provider, v, strings.Join(able, ", "))
		if UnadoptableBuiltIn(record) == "" {
			return why + "Let Signpost itself write the names (deployOn: {publisher: built-in}), which replaces marks"
		}
		return why + "Have the marks deleted at the DNS provider, or by the external-dns that made them"
	}
	return keepsMarks(record)
}

// UnadoptableBuiltIn is [Unadoptable] for Signpost's own publisher. It replaces a mark together with the
// records of the mark's name, where the server takes both in one message.
func UnadoptableBuiltIn(record Record) string {
	if !slices.Contains([]string{"coredns", "rfc2136"}, WriterOf(record.Provider)) {
		return fmt.Sprintf("with provider %s, Signpost's own publisher cannot replace a mark; it can with coredns and rfc2136. Have the marks deleted at the DNS provider, or by the external-dns that made them", record.Provider)
	}
	return keepsMarks(record)
}

// keepsMarks is what a provider's settings have against another mark; empty: nothing.
func keepsMarks(record Record) string {
	r := understand(record)
	switch {
	case r.one("registry") != "txt":
		return fmt.Sprintf("the provider has registry %s, and marks are taken over with registry txt alone", r.one("registry"))
	case r.on("txt-encrypt-enabled"):
		return "the provider encrypts its marks, so that it cannot be seen when the names are its own; leave txt-encrypt-enabled out until they are"
	case r.one("policy") == "create-only":
		return "the provider has policy create-only, which changes no mark; give sync or upsert-only"
	case r.on("dry-run"):
		return "the provider has dry-run, which changes nothing; leave it out"
	}
	return ""
}

// adopt has another's marks taken over. Names that have one and are not asked
// for would be deleted with policy sync.
func (r *reading) adopt(owner string) {
	for name, text := range map[string]string{"migrate-from-txt-owner": owner, "policy": "upsert-only"} {
		flag, _ := r.table.find(name)
		r.values[name] = value{flag: flag, parameter: name, texts: []string{text}}
	}
}

// The names that external-dns writes beside those that it is asked for.

// Marks lists the names of the TXT records that mark a host name as external-dns' own,
// one for each type that it manages; none if it marks names in other ways.
func Marks(record Record) func(host string) []string {
	if r := understand(record); r.one("registry") != "txt" {
		return func(string) []string { return nil }
	}
	shown, kinds := Shown(record, ""), Managed(record.Parameters)
	return func(host string) []string {
		marks := make([]string, len(kinds))
		for n, kind := range kinds {
			marks[n] = shown.Mark(host, kind)
		}
		return marks
	}
}

// ReverseZones are the domains in which external-dns makes PTR records for addresses,
// as far as zones and filters tell; none unless create-ptr asks for that.
func ReverseZones(record Record) []string {
	r := understand(record)
	if !r.on("create-ptr") || !slices.Contains(Managed(record.Parameters), "PTR") {
		return nil
	}
	filter := cmp.Or(r.provider.zones, "domain-filter")
	all := []string{"in-addr.arpa", "ip6.arpa"}
	if !r.has(filter) || r.values[filter].idle {
		return all
	}
	var zones []string
	for _, text := range r.values[filter].texts {
		zone := strings.Trim(text, ".")
		for _, root := range all {
			switch {
			case zone == root || strings.HasSuffix(zone, "."+root):
				zones = append(zones, zone)
			case zone == "" || strings.HasSuffix(root, "."+zone):
				zones = append(zones, root)
			}
		}
	}
	return zones
}
