package externaldns

import (
	"fmt"
	"strings"
)

// Unadoptable is why the external-dns of a record cannot take over names that
// another one has marked as its own; empty: it can. What it does then is in
// [Options.Adopt].
func Unadoptable(record Record, v Version) string {
	r := understand(record)
	switch {
	case !AbilitiesOf(record.Provider, v).Remarks:
		able := Able(v, func(a Abilities) bool { return a.Remarks })
		return fmt.Sprintf("with provider %s, external-dns %s cannot replace a mark; it can with %s. Have the marks deleted at the DNS provider, or by the external-dns that made them", record.Provider, v, strings.Join(able, ", "))
	case r.one("registry") != "txt":
		return fmt.Sprintf("the record has registry %s, and marks are taken over with registry txt alone", r.one("registry"))
	case r.on("txt-encrypt-enabled"):
		return "the record encrypts its marks, so that it cannot be seen when the names are its own; leave txt-encrypt-enabled out until they are"
	case r.one("policy") == "create-only":
		return "the record has policy create-only, which changes no mark; give sync or upsert-only"
	case r.on("dry-run"):
		return "the record has dry-run, which changes nothing; leave it out"
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
