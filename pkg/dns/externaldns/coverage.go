package externaldns

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Coverage tells which host names a record manages. Make it with [NewCoverage];
// it is cheap to ask and safe for concurrent use.
type Coverage struct {
	include, exclude           []string // domain-filter, exclude-domains
	regexInclude, regexExclude *regexp.Regexp
	zones                      []string // rfc2136-zone
	zoneNames                  []string // zone-name-filter
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
	switch findProvider(provider).family {
	case familyRFC2136:
		c.zones = unicodeNames(Values(parameters, "rfc2136-zone"))
	case familyAzure:
		c.zoneNames = unicodeNames(Values(parameters, "zone-name-filter"))
	}
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
	if len(c.zoneNames) > 0 && !matchSuffix(c.zoneNames, host) {
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
	zones := slices.Concat(c.zones, c.zoneNames)
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
	texts := Values(parameters, name)
	if len(texts) == 0 {
		return nil
	}
	compiled, err := regexp.Compile(texts[0])
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
	for _, zone := range zones {
		if zone == "." || matchSuffix([]string{zone}, host) {
			return true
		}
	}
	return false
}
