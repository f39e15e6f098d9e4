package externaldns

import "strings"

// InDNS is what of an external-dns shows in DNS: how names are marked as its
// own, and where answers are not what it was given.
type InDNS struct {
	Owner    string `json:"owner,omitempty"`    // its txt-owner-id; empty: it marks names by nothing that can be read
	Prefix   string `json:"prefix,omitempty"`   // of the names of marks
	Suffix   string `json:"suffix,omitempty"`   // of the first label of these names
	Wildcard string `json:"wildcard,omitempty"` // stands there for a wildcard's *; empty: the * itself does

	Hidden  string `json:"hidden,omitempty"`  // why answers do not show what was published; empty: they do
	Private string `json:"private,omitempty"` // why its zones cannot be found; empty: they can
	Aliases bool   `json:"aliases,omitempty"` // the provider may answer addresses in place of a CNAME
}

// Shown says what shows in DNS of an external-dns with this provider, these
// parameters and this owner id.
func Shown(record Record, ownerID string) InDNS {
	r := understand(record)
	shown := InDNS{
		Prefix: strings.ToLower(r.one("txt-prefix")), Suffix: strings.ToLower(r.one("txt-suffix")),
		Wildcard: strings.ToLower(r.one("txt-wildcard-replacement")),
		Aliases:  r.provider.answers.aliases != "" && !r.on(r.provider.answers.aliases),
	}
	if r.one("registry") == "txt" && !r.on("txt-encrypt-enabled") {
		shown.Owner = ownerID
	}
	if flag := r.provider.answers.hiddenBy; flag == "" || r.on(flag) {
		shown.Hidden = r.provider.answers.hidden
	}
	if account := r.provider.account; account.Private || account.Visibility != "" && r.one(account.Visibility) == "private" {
		shown.Private = "the record's zones are private"
	}
	return shown
}

// recordTypePlace stands in affixes for the type of the record.
const recordTypePlace = "%{record_type}"

// Mark is the name of the TXT record that marks a name and type as its own.
func (d InDNS) Mark(name, kind string) string {
	kind = strings.ToLower(kind)
	label, rest, more := strings.Cut(name, ".")
	if label == "*" && d.Wildcard != "" {
		label = d.Wildcard
	}
	if !strings.Contains(d.Prefix+d.Suffix, recordTypePlace) {
		label = kind + "-" + label
	}
	mark := strings.ReplaceAll(d.Prefix, recordTypePlace, kind) + label + strings.ReplaceAll(d.Suffix, recordTypePlace, kind)
	if more {
		mark += "." + rest
	}
	return mark
}

// OwnerOf reads the owner id out of a mark; ok is false for a text that is none.
func OwnerOf(text string) (id string, ok bool) {
	for part := range strings.SplitSeq(strings.Trim(text, `"`), ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "heritage":
			ok = value == "external-dns"
		case "external-dns/owner":
			id = value
		}
	}
	return id, ok && id != ""
}
