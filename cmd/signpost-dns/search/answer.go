package search

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Answer is the reply to the query r that asked for this outcome. If the name was found
// under another name, a CNAME leads to that name. For a missing name, the reply has no
// error and a CNAME to the name as it was written. So a resolver does not ask for that
// name again. With asPlain, the reply is an NXDOMAIN. No record lives longer than the
// outcome.
func (o Outcome) Answer(r *dns.Msg, asPlain bool) *dns.Msg {
	m := new(dns.Msg)
	m.SetReply(r)
	if o.Reply == nil {
		m.Rcode = dns.RcodeServerFailure
		return m
	}
	m.Authoritative, m.RecursionAvailable, m.Truncated = o.Reply.Authoritative, o.Reply.RecursionAvailable, o.Reply.Truncated
	asked := r.Question[0].Name
	renamed := !strings.EqualFold(asked, o.Name)
	switch {
	case o.Result == Missing && (asPlain || !renamed):
		m.Rcode = dns.RcodeNameError
	case renamed:
		m.Answer = append(m.Answer, o.alias(asked))
	}
	switch {
	case o.Result != Found:
		m.Ns = capped(o.Reply.Ns, o.TTL)
	case renamed:
		m.Answer = append(m.Answer, o.Reply.Answer...)
		m.Ns, m.Extra = o.Reply.Ns, withoutOPT(o.Reply.Extra)
	default:
		m.Answer = capped(o.Reply.Answer, o.TTL)
		m.Ns, m.Extra = o.Reply.Ns, withoutOPT(o.Reply.Extra)
	}
	return m
}

// alias is the CNAME from the asked name to the outcome's.
func (o Outcome) alias(asked string) dns.RR {
	ttl := min(o.TTL, negativeTTL(o.Reply))
	if o.Result == Found {
		ttl = min(o.TTL, shortest(o.Reply.Answer))
	}
	return &dns.CNAME{
		Hdr:    dns.RR_Header{Name: asked, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: ttl},
		Target: o.Name,
	}
}

// capped are records that live for ttl seconds at most. The records of a reply
// may belong to a zone, so those that are changed are copies.
func capped(records []dns.RR, ttl uint32) []dns.RR {
	result := slices.Clone(records)
	for i, record := range result {
		if record.Header().Ttl > ttl {
			result[i] = dns.Copy(record)
			result[i].Header().Ttl = ttl
		}
	}
	return result
}

// withoutOPT leaves out the record that is between one server and the next
// alone.
func withoutOPT(records []dns.RR) []dns.RR {
	return slices.DeleteFunc(slices.Clone(records), func(record dns.RR) bool { return record.Header().Rrtype == dns.TypeOPT })
}
