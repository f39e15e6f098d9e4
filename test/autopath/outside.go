package autopath

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// Outside is what is not in the cluster: names, each with its records, for a
// nameserver to tell.
type Outside map[string][]dns.RR

// denial is how long a name that is missing may be taken for missing.
const denial = 5

// ReadOutside reads records in the form of a zone file. A name whose TXT is
// "fails" has a server that fails, one whose TXT is "silent" a server that never
// answers.
func ReadOutside(text string) (Outside, error) {
	o := Outside{}
	parser := dns.NewZoneParser(strings.NewReader(text), ".", "")
	for rr, more := parser.Next(); more; rr, more = parser.Next() {
		name := strings.ToLower(rr.Header().Name)
		o[name] = append(o[name], rr)
	}
	return o, parser.Err()
}

// Tell completes the reply to a query: records, following aliases, or that
// there are none, or no such name. It answers false where there is no reply.
// What is too large for UDP is cut off by who sends it.
func (o Outside) Tell(answer *dns.Msg) bool {
	question := answer.Question[0]
	records, there := o.at(question.Name)
	for there {
		alias := ""
		for _, rr := range records {
			switch record := rr.(type) {
			case *dns.TXT:
				switch record.Txt[0] {
				case "fails":
					answer.Rcode = dns.RcodeServerFailure
					return true
				case "silent":
					return false
				}
			case *dns.CNAME:
				alias = record.Target
				answer.Answer = append(answer.Answer, record)
				continue
			}
			if rr.Header().Rrtype == question.Qtype {
				answer.Answer = append(answer.Answer, rr)
			}
		}
		if alias == "" {
			break
		}
		records, there = o.at(alias)
	}
	if !there {
		answer.Rcode = dns.RcodeNameError
	}
	if len(answer.Answer) == 0 {
		soa, _ := dns.NewRR(fmt.Sprintf(". %d IN SOA ns. hostmaster. 1 3600 600 86400 %[1]d", denial))
		answer.Ns = []dns.RR{soa}
	}
	return true
}

// at are the records of a name. Those of a wildcard are of all names that have
// its other labels.
func (o Outside) at(name string) (records []dns.RR, there bool) {
	name = strings.ToLower(name)
	if records, there = o[name]; there {
		return records, true
	}
	_, parent, _ := strings.Cut(name, ".")
	for _, rr := range o["*."+parent] {
		rr = dns.Copy(rr)
		rr.Header().Name = name
		records = append(records, rr)
	}
	return records, len(records) > 0
}
