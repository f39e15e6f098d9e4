package verify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/rdata"
)

// read takes the answers of a message for a name and type. Answers for other names do not
// count: a server may follow an alias, and add others.
func read(m *dns.Msg, name, kind string) Reply {
	r := Reply{Rcode: cmp.Or(dns.RcodeToString[m.Rcode], fmt.Sprintf("RCODE%d", m.Rcode)), Authoritative: m.Authoritative}
	for _, record := range m.Answer {
		head := record.Header()
		if rdata.Host(head.Name) != name || head.Class != dns.ClassINET {
			continue
		}
		if alias, ok := record.(*dns.CNAME); ok && kind != "CNAME" {
			r.CNAME, r.TTL = rdata.Host(alias.Target), head.Ttl
		}
		if dns.TypeToString[head.Rrtype] == kind {
			r.Values, r.TTL = append(r.Values, rdata.Value(record)), head.Ttl
		}
	}
	slices.Sort(r.Values)
	r.Values = slices.Compact(r.Values)
	if len(r.Values) == 0 {
		r.AbsentFor, r.Zone = absentFor(m), zoneOf(m)
	}
	return r
}

// zoneOf is the zone that a message speaks for, if it says that there is no record; else empty.
func zoneOf(m *dns.Msg) string {
	for _, record := range m.Ns {
		if soa, is := record.(*dns.SOA); is {
			return rdata.Host(soa.Hdr.Name)
		}
	}
	return ""
}

// absentFor is for how long resolvers may keep that there is no record (RFC 2308, section 5).
func absentFor(m *dns.Msg) time.Duration {
	for _, record := range m.Ns {
		if soa, is := record.(*dns.SOA); is {
			return time.Duration(min(soa.Hdr.Ttl, soa.Minttl)) * time.Second
		}
	}
	return 0
}

// longestReply is how long the values of a reply may be together, in bytes: they are
// kept, of each server and name. No set that is published is so long.
const longestReply = 16 << 10

// errTooMuch leaves the question open.
var errTooMuch = fmt.Errorf("the records of the name are longer than %d bytes together", longestReply)

// size is how long the values of a reply are together.
func (r Reply) size() int {
	size := len(r.CNAME)
	for _, value := range r.Values {
		size += len(value)
	}
	return size
}
