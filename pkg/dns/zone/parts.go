package zone

import (
	"slices"
	"strings"
)

// Stays is why the records of a name and type stay with the zone's own servers; empty if they could be
// published by others.
func (z *Zone) Stays(name, kind string) string {
	switch {
	case kind == "SOA":
		return "stays with the zone, whose server keeps its serial number"
	case kind == "NS" && name == z.Name:
		return "stays with the zone: these are its own nameservers"
	case kind == "NS":
		return "delegates the name to other nameservers, and stays with the zone"
	case slices.Contains(signed(), kind):
		return "belongs to DNSSEC; the server that signs the zone makes these records"
	case kind == "DS":
		return "belongs to the delegation of the name, and stays with the zone"
	}
	return ""
}

// signed are the types of DNSSEC, which servers make themselves.
func signed() []string {
	return []string{"RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY", "KEY", "SIG"}
}

// Cuts are the names below a zone's own at which the zone delegates to other nameservers.
type Cuts map[string]bool

// Cuts returns those of the zone.
func (z *Zone) Cuts() Cuts {
	cuts := Cuts{}
	for _, r := range z.Records {
		if r.Type == "NS" && r.Name != z.Name && (z.Name == "" || strings.HasSuffix(r.Name, "."+z.Name)) {
			cuts[r.Name] = true
		}
	}
	return cuts
}

// Above is the delegated name that a name lies below; empty if there is none.
func (c Cuts) Above(name string) string {
	for {
		_, above, more := strings.Cut(name, ".")
		if !more {
			return ""
		}
		if c[above] {
			return above
		}
		name = above
	}
}
