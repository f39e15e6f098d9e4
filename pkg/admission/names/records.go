package names

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// checkRecords checks the records of a name that have other types than those of addresses,
// and brings their values into canonical form.
func checkRecords(r *review.Review, in *intent.Name) {
	const at = review.Spec + "/records"
	if in.CNAME != "" && len(in.Records) > 0 {
		r.Refusef(at, "stand beside a cname, and DNS allows nothing beside it; remove cname or records, or give addresses in place of cname")
	}
	for n := range in.Records {
		set, here := &in.Records[n], at.Index(n)
		switch {
		case !slices.Contains(externaldns.RecordTypes(), set.Type):
			r.Refusef(here+"/type", "%s is not a type that records may have; give %s%s", review.Quote(set.Type), strings.Join(externaldns.RecordTypes(), ", "), adviceOnType(set.Type))
			continue
		case slices.ContainsFunc(in.Records[:n], func(other intent.RecordSet) bool { return other.Type == set.Type }):
			r.Refusef(here+"/type", "%s is given twice; put all values into one", set.Type)
		}
		if set.Type == "MX" && hostname.HasUnderscore(r.Path.Name()) {
			r.Refusef(here+"/type", "MX is for mail to a host, and no host has a name with an underscore; leave it out")
		}
		if len(set.Values) == 0 {
			r.Refusef(here+"/values", "has no value; give one, or leave out the type")
		}
		if set.TTL < 0 || set.TTL > math.MaxInt32 {
			r.Refusef(here+"/ttl", "%d is not a TTL; give 1 to %d seconds, or leave it out for the TTL of the name", set.TTL, math.MaxInt32)
		}
		for v, value := range set.Values {
			canonical, err := canonicalValue(set.Type, value)
			switch {
			case err != nil:
				r.Refusef((here + "/values").Index(v), "%s %s", review.Quote(value), err)
			case slices.Contains(set.Values[:v], canonical):
				r.Refusef((here + "/values").Index(v), "%s is given twice; leave one out", review.Quote(value))
			default:
				set.Values[v] = canonical
			}
		}
	}
}

// adviceOnType tells how names get records of a type in another way.
func adviceOnType(kind string) string {
	switch kind {
	case "A", "AAAA":
		return ". Addresses go to service or addresses"
	case "CNAME":
		return ". A host name goes to cname"
	}
	return ""
}

// canonicalValue is a value of a type in canonical form. The error names the fault and the
// remedy.
func canonicalValue(kind, value string) (string, error) {
	if kind == "TXT" {
		return value, checkText(value)
	}
	return hostname.Value(kind, value)
}

// longestText is how many bytes the text of a TXT record may have.
const longestText = 4096

func checkText(text string) error {
	_, mark := externaldns.OwnerOf(text)
	switch {
	case mark:
		return fmt.Errorf("is a mark of external-dns, which writes such records itself; leave it out")
	case len(text) > longestText:
		return fmt.Errorf("is longer than %d bytes; shorten it", longestText)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }):
		return fmt.Errorf("has characters other than printable ASCII; encode them")
	}
	return nil
}
