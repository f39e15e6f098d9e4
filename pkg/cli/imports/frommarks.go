package imports

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/zone"
)

// FromMarks makes names of those that an external-dns has marked as its own; if owner is
// not empty, of those with that owner id.
func FromMarks(source string, z zone.Zone, affixes externaldns.InDNS, owner string) Result {
	all := FromZone(source, z)
	owned := marked(z)
	result := Result{Source: source, Findings: all.Findings, Owners: all.Owners}
	for _, name := range all.Names {
		id := ownerOf(name, owned, affixes)
		switch {
		case id == "":
			result.leave(name.Host, "", "no external-dns has marked it as its own; import it by signpost import zone")
		case owner != "" && id != owner:
			result.leave(name.Host, "", "belongs to the external-dns with owner id %q", id)
		default:
			result.Names = append(result.Names, name)
		}
	}
	result.finish()
	return result
}

// marked are the owner ids of marks, by the names that marks are found at.
func marked(z zone.Zone) map[string]string {
	owned := map[string]string{}
	for _, r := range z.Records {
		if r.Type != "TXT" {
			continue
		}
		if id, mark := externaldns.OwnerOf(r.Value); mark {
			owned[r.Name] = id
		}
	}
	return owned
}

// ownerOf is the owner id in the marks of a name.
func ownerOf(name Name, owned map[string]string, affixes externaldns.InDNS) string {
	kinds := []string{"CNAME", "A", "AAAA"}
	for _, kind := range kinds {
		if id := owned[affixes.Mark(name.Host, kind)]; id != "" {
			return id
		}
	}
	label, rest, _ := strings.Cut(name.Host, ".")
	return owned[affixes.Prefix+label+affixes.Suffix+"."+rest] // as releases before v0.12 marked names
}
