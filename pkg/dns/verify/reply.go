package verify

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// read takes the answers of a message for a name and type. Answers for other names do not
// count: a server may follow an alias, and add others.
func read(m *dns.Msg, name, kind string) Reply {
	r := Reply{Rcode: dns.RcodeToString[m.Rcode], Authoritative: m.Authoritative}
	if r.Rcode == "" {
		r.Rcode = fmt.Sprintf("RCODE%d", m.Rcode)
	}
	for _, record := range m.Answer {
		head := record.Header()
		if canonical(head.Name) != name || head.Class != dns.ClassINET {
			continue
		}
		if alias, ok := record.(*dns.CNAME); ok && kind != "CNAME" {
			r.CNAME, r.TTL = canonical(alias.Target), head.Ttl
		}
		if value := valueOf(record, kind); value != "" {
			r.Values, r.TTL = append(r.Values, value), head.Ttl
		}
	}
	slices.Sort(r.Values)
	r.Values = slices.Compact(r.Values)
	if len(r.Values) == 0 {
		r.AbsentFor = absentFor(m)
	}
	return r
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

// valueOf is the value of a record of the type as targets are written; empty for
// a record of another type.
func valueOf(record dns.RR, kind string) string {
	if dns.TypeToString[record.Header().Rrtype] != kind {
		return ""
	}
	switch v := record.(type) {
	case *dns.A:
		return text(netip.AddrFromSlice(v.A.To4()))
	case *dns.AAAA:
		return text(netip.AddrFromSlice(v.AAAA))
	case *dns.CNAME:
		return canonical(v.Target)
	case *dns.SRV:
		return fmt.Sprintf("%d %d %d %s", v.Priority, v.Weight, v.Port, canonical(v.Target))
	case *dns.TXT:
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.Join(v.Txt, "")) // as the library escapes them
	case *dns.NS:
		return canonical(v.Ns)
	case *dns.PTR:
		return canonical(v.Ptr)
	case *dns.MX:
		return fmt.Sprintf("%d %s", v.Preference, canonical(v.Mx))
	case *dns.CAA:
		return strconv.Itoa(int(v.Flag)) + " " + strings.ToLower(v.Tag) + ` "` + v.Value + `"`
	}
	return ""
}

func text(address netip.Addr, ok bool) string {
	if !ok {
		return ""
	}
	return address.String()
}

// canonical is a host name in lower case, without the final dot.
func canonical(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }
