package externaldns

import (
	"slices"
	"strings"
)

// The names that external-dns writes beside those that it is asked for.

// Marks tells the names of the TXT records that mark a host name as external-dns'
// own, one for each type that it manages; none where it marks names otherwise.
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
	filter := "domain-filter"
	if r.family == familyRFC2136 {
		filter = "rfc2136-zone"
	}
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
