package search

import (
	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

// Asked divides the name that a message asks for, as Split does. If the name needs no
// search, ok is false. So it is in the zone of search domains, where Deny answers.
func (d *Domain) Asked(r *dns.Msg) (base string, paths []string, ok bool) {
	if !Searchable(r) {
		return "", nil, false
	}
	base, paths, ok = d.Split(r.Question[0].Name)
	return base, paths, ok && base != "" && !IsInZone(base)
}

// Deny answers the query r for a name in the zone of search domains, with authority. A
// search domain of the cluster and its ancestors have no records, and no other name
// exists.
func (d *Domain) Deny(r *dns.Msg) *dns.Msg {
	m := new(dns.Msg)
	m.SetReply(r)
	m.Authoritative = true
	if !d.Exists(r.Question[0].Name) {
		m.Rcode = dns.RcodeNameError
	}
	m.Ns = []dns.RR{d.soa()}
	return m
}

// Times of the zone's SOA record in seconds. Nobody transfers the zone.
const (
	ttl     = 30
	refresh = 7200
	retry   = 1800
	expire  = 86400
)

func (d *Domain) soa() *dns.SOA {
	return &dns.SOA{
		Hdr:     dns.RR_Header{Name: autopath.Zone + ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: ttl},
		Ns:      "ns.dns." + d.Name + ".",
		Mbox:    "hostmaster." + d.Name + ".",
		Serial:  1,
		Refresh: refresh,
		Retry:   retry,
		Expire:  expire,
		Minttl:  ttl,
	}
}
