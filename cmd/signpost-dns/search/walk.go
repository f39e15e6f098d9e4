// Package search does on a server what a resolver does with search paths: it
// looks the names up that a name may mean, as glibc does, and answers what it
// found. The plugins searchpath and searchexpand are its two users.
package search

import (
	"math"
	"time"

	"github.com/miekg/dns"
)

// Lookup asks for a name, which ends with a dot. It answers nil when nobody
// answered.
type Lookup func(name string, qtype uint16) *dns.Msg

// Result is what has come of a search.
type Result int

// The results, in the order in which glibc prefers one to tell of a search that
// found nothing.
const (
	Missing Result = iota // no name exists
	Failed                // some name could not be looked up, and no other was found
	NoData                // a name exists, and has no records of this type
	Found                 // a name has records
)

// String is the result's name in metrics.
func (r Result) String() string {
	return [...]string{"missing", "failed", "nodata", "found"}[r]
}

// Patience is how long a search may take: as long as resolvers wait for an
// answer.
const Patience = 5 * time.Second

// unknownTTL is for how many seconds a failure counts, and an answer that there
// is no such name which does not say.
const unknownTTL = 5

// Outcome is the end of a search.
type Outcome struct {
	Result  Result
	Name    string   // what was found, has no data, or is not there
	Reply   *dns.Msg // of that name; nil if Failed
	TTL     uint32   // seconds that the outcome is good for, as far as other names go
	Lookups int      // names that were looked up
}

// Walk looks names up until one is found. A resolver asks for the addresses of
// both families at the same name and stops there if it has any, so a name with
// addresses of the other family alone is the end too.
func Walk(names []string, qtype uint16, lookup Lookup) Outcome {
	o := Outcome{TTL: math.MaxUint32}
	for _, name := range names {
		o.Lookups++
		reply := lookup(name, qtype)
		result := judge(reply)
		if result == Found {
			return o.end(Found, name, reply)
		}
		o = o.pass(result, name, reply)
		if result == Missing {
			continue
		}
		if other := otherFamily(lookup, name, qtype); judge(other) == Found {
			o.TTL = min(o.TTL, shortest(other.Answer))
			return o.end(result, name, reply)
		}
	}
	return o
}

// end stops at a name.
func (o Outcome) end(result Result, name string, reply *dns.Msg) Outcome {
	o.Result, o.Name, o.Reply = result, name, reply
	if result == Failed {
		o.Reply = nil
	}
	return o
}

// otherFamily asks for a name's IPv6 addresses if its IPv4 addresses were asked
// for, and the other way round.
func otherFamily(lookup Lookup, name string, qtype uint16) *dns.Msg {
	switch qtype {
	case dns.TypeA:
		return lookup(name, dns.TypeAAAA)
	case dns.TypeAAAA:
		return lookup(name, dns.TypeA)
	}
	return nil
}

// judge says what one reply means. A truncated one has records: those that did
// not fit.
func judge(reply *dns.Msg) Result {
	switch {
	case reply == nil:
		return Failed
	case reply.Rcode == dns.RcodeNameError:
		return Missing
	case reply.Rcode != dns.RcodeSuccess:
		return Failed
	case len(reply.Answer) == 0 && !reply.Truncated:
		return NoData
	}
	return Found
}

// pass goes on from a name that was not found, and keeps what is to be told if
// none is: of the first name that has no data, or of the last that is missing.
func (o Outcome) pass(result Result, name string, reply *dns.Msg) Outcome {
	o.TTL = min(o.TTL, negativeTTL(reply))
	if result > o.Result || result == Missing && o.Result == Missing {
		return o.end(result, name, reply)
	}
	return o
}

// negativeTTL is for how long a reply without records is good, in seconds: RFC
// 2308, section 5.
func negativeTTL(reply *dns.Msg) uint32 {
	if reply == nil {
		return unknownTTL
	}
	for _, record := range reply.Ns {
		if soa, ok := record.(*dns.SOA); ok {
			return min(soa.Hdr.Ttl, soa.Minttl)
		}
	}
	return unknownTTL
}

// shortest is the lowest TTL of records, and of none that of what is unknown.
func shortest(records []dns.RR) uint32 {
	if len(records) == 0 {
		return unknownTTL
	}
	ttl := uint32(math.MaxUint32)
	for _, record := range records {
		ttl = min(ttl, record.Header().Ttl)
	}
	return ttl
}
