// Package search does on a server the work of a resolver with search paths. It looks up
// the candidates of a name in the order of glibc, and answers the first that it found.
// The plugins searchpath and searchexpand use it.
package search

import (
	"context"
	"math"

	"github.com/miekg/dns"
)

// Lookup asks for a name, which ends with a dot. It answers nil when nobody
// answered. It runs beside others, and may outlive the search that it is for,
// which nobody waits for any more when ctx ends.
type Lookup func(ctx context.Context, name string, qtype uint16) *dns.Msg

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

// unknownTTL is for how many seconds a failure counts, and an answer that there
// is no such name which does not say.
const unknownTTL = 5

// Outcome is the end of a search.
type Outcome struct {
	Result  Result
	Name    string   // what was found, has no data, or is not there
	Reply   *dns.Msg // of that name; nil if Failed
	TTL     uint32   // seconds that the outcome is good for, as far as other names go
	Lookups int      // queries that were sent for it: one or two for each name
}

// Walk looks names up in their order until one is found. A resolver asks for the
// addresses of both families at the same name and stops there if it has any. So a name
// that only has addresses of the other family ends the walk, too. A name has failed if it
// is not answered within the Budget while a later one is found, or within Patience.
func Walk(ctx context.Context, names []string, qtype uint16, lookup Lookup) Outcome {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	r := newRace(names, qtype, lookup)
	defer r.stop()
	o := Outcome{TTL: math.MaxUint32}
	for place, name := range names {
		f := r.await(ctx, place)
		if f.result == Found {
			o = o.end(Found, name, f.reply)
			break
		}
		o = o.pass(f.result, name, f.reply)
		if f.ends() {
			o.TTL = min(o.TTL, shortest(f.other.Answer))
			o = o.end(f.result, name, f.reply)
			break
		}
	}
	o.Lookups = int(r.lookups.Load())
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

// pass continues after a name that was not found. It keeps the outcome to report if no
// name is found: that of the first name without data, or of the last missing name.
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
