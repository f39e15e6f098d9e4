package search

import (
	"strings"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

const zone = autopath.Zone + "."

// InZone tells whether a message is a query for a name in the zone of search
// domains. It allocates nothing, for it sees every message.
func InZone(r *dns.Msg) bool {
	return r.Opcode == dns.OpcodeQuery && len(r.Question) == 1 && IsInZone(r.Question[0].Name)
}

// IsInZone tells whether a name, which ends with a dot, is in that zone.
func IsInZone(name string) bool {
	above := len(name) - len(zone)
	return above >= 0 && strings.EqualFold(name[above:], zone) && (above == 0 || name[above-1] == '.')
}

// Searchable tells whether a message is a query for records of one name, of the
// class and of a type that resolvers search for.
func Searchable(r *dns.Msg) bool {
	if r.Opcode != dns.OpcodeQuery || len(r.Question) != 1 || r.Question[0].Qclass != dns.ClassINET {
		return false
	}
	switch r.Question[0].Qtype {
	case dns.TypeAXFR, dns.TypeIXFR, dns.TypeOPT, dns.TypeTSIG, dns.TypeTKEY:
		return false
	}
	return true
}

// Names are what a name may mean: it with each path appended, and at last it as
// it is. All end with a dot; names that are too long are left out.
func Names(base string, paths []string) []string {
	names := make([]string, 0, len(paths)+1)
	for _, path := range paths {
		if name := base + path + "."; isName(name) {
			names = append(names, name)
		}
	}
	return append(names, base)
}

func isName(name string) bool {
	_, ok := dns.IsDomainName(name)
	return ok
}
