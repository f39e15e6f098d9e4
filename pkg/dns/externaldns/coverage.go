package externaldns

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"
)

// Coverage tells which host names a record manages. Make it with [NewCoverage];
// it is cheap to ask and safe for concurrent use.
type Coverage struct {
	include, exclude           []string // domain-filter, exclude-domains
	regexInclude, regexExclude *regexp.Regexp
	zones                      []string // those of the provider's parameter, such as rfc2136-zone
}

// NewCoverage reads the filters and zones of a record's parameters as
// external-dns applies them from v0.21 on. Values that [Check] refuses are
// passed over.
func NewCoverage(provider string, parameters Parameters) Coverage {
	c := Coverage{
		include:      unicodeNames(Values(parameters, "domain-filter")),
		exclude:      unicodeNames(Values(parameters, "exclude-domains")),
		regexInclude: expression(parameters, "regex-domain-filter"),
		regexExclude: expression(parameters, "regex-domain-exclusion"),
	}
	row := loadTable().provider(provider)
	zones := row.zones
	if flag, _ := loadTable().find("zone-name-filter"); row.uses(flag) {
		zones = flag.Name
	}
	c.zones = unicodeNames(Values(parameters, zones))
	return c
}

// Covers tells whether the provider manages a host name, in canonical form. Domains match
// on label boundaries; a domain with a leading dot matches only its subdomains. Regular
// expressions replace the domains. If the parameters name zones, the name also lies in
// one of them.
func (c Coverage) Covers(host string) bool {
	host = toUnicode(host)
	if len(c.zones) > 0 && !matchZone(c.zones, host) {
		return false
	}
	if c.regexInclude != nil || c.regexExclude != nil {
		return (c.regexExclude == nil || !c.regexExclude.MatchString(host)) &&
			(c.regexInclude == nil || c.regexInclude.MatchString(host))
	}
	return (len(c.include) == 0 || matchSuffix(c.include, host)) && !matchSuffix(c.exclude, host)
}

// Apex tells whether a host name, in canonical form, is the name of a zone itself. The
// zones are those of the parameters, else the domains.
func (c Coverage) Apex(host string) bool {
	zones := c.zones
	if len(zones) == 0 {
		zones = c.include
	}
	return slices.Contains(zones, toUnicode(host))
}

// defaultInterval is external-dns' own.
const defaultInterval = time.Minute

// Interval is the time between two synchronizations: the parameter, else what was
// chosen for the record, else external-dns' own.
func Interval(parameters Parameters, chosen time.Duration) time.Duration {
	if interval, err := time.ParseDuration(Value(parameters, "interval")); err == nil {
		return interval
	}
	return cmp.Or(chosen, defaultInterval)
}

// Value is the one value of a parameter, by the name of its flag, in the form that
// external-dns gets. The parameter may be written as a scalar or as a list of one, with
// blanks, or in another letter case. Empty if the parameter is absent, or wholly wrong.
func Value(parameters Parameters, name string) string {
	if texts := Values(parameters, name); len(texts) > 0 {
		return texts[0]
	}
	return ""
}

// Values are those of a parameter that is a list, as [Value] gives one; those that
// are not right are left out.
func Values(parameters Parameters, name string) []string {
	flag, known := loadTable().find(name)
	if !known {
		return nil
	}
	all, _ := items(parameters[name])
	var texts []string
	for _, item := range all {
		if result := flag.read(item); result.text != "" {
			texts = append(texts, result.text)
		}
	}
	return texts
}

// ShortestZoneID is how many letters and digits the shortest id of a zone of Route 53
// has.
const ShortestZoneID = 12

// IsPartOfZoneID tells texts with which the ids of several zones of Route 53 may end.
func IsPartOfZoneID(text string) bool {
	return len(text) < ShortestZoneID && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func expression(parameters Parameters, name string) *regexp.Regexp {
	text := Value(parameters, name)
	if text == "" {
		return nil
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return compiled
}

// matchSuffix tells whether a name is one of the domains or below it.
func matchSuffix(domains []string, host string) bool {
	for _, domain := range domains {
		if strings.HasPrefix(domain, ".") {
			if strings.HasSuffix(host, domain) {
				return true
			}
			continue
		}
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// matchZone is matchSuffix, where the root zone holds every name.
func matchZone(zones []string, host string) bool {
	return slices.ContainsFunc(zones, func(zone string) bool { return zone == "." || matchSuffix([]string{zone}, host) })
}

// External-dns compares names in their Unicode form, so "xn--mnchen-3ya.example"
// is matched by the domain "münchen.example" and the other way round.

// unicodeNames gives the Unicode form of each name.
func unicodeNames(names []string) []string {
	for i, name := range names {
		if name != "." {
			names[i] = toUnicode(name)
		}
	}
	return names
}

// toUnicode lowers a name, cuts its final dot and decodes its "xn--" labels;
// one that cannot be decoded stays as it is.
func toUnicode(name string) string {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(name, ".")), ".")
	for i, label := range labels {
		if decoded, err := idna.Punycode.ToUnicode(label); err == nil {
			labels[i] = decoded
		}
	}
	return strings.Join(labels, ".")
}
