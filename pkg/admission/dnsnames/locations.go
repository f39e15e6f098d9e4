package dnsnames

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// checkRegions checks that some cluster has a region, and that Route 53 knows each of them.
func checkRegions(r *review.Review, at review.Pointer, regions map[string]string) {
	if len(regions) == 0 {
		r.Refusef(at, `are missing, so no cluster would get answers; give the AWS region that is nearest to each cluster, as in {"edge+berlin":"eu-central-1"}`)
	}
	for _, cluster := range slices.Sorted(maps.Keys(regions)) {
		if region := regions[cluster]; !isOneOf(awsRegions, region) {
			r.Refusef(at.Key(cluster), "%s is not an AWS region that Route 53 knows; %s", review.Quote(region), regionFor(region))
		}
	}
}

// regionFor is what to give in place of a text that is no region.
func regionFor(text string) string {
	if near := nearest.Name(text, strings.Fields(awsRegions)); near != "" {
		return "did you mean " + near + "?"
	}
	return "give the one that is nearest to the cluster, as in eu-central-1"
}

// checkLocations checks that some cluster has a location, and that each of them is one.
func checkLocations(r *review.Review, at review.Pointer, locations map[string][]string) {
	if len(locations) == 0 {
		r.Refusef(at, `are missing, so no cluster would get answers; give the locations that each cluster answers, as in {"edge+berlin":["continent/EU","default"]}`)
	}
	for _, cluster := range slices.Sorted(maps.Keys(locations)) {
		here := at.Key(cluster)
		if len(locations[cluster]) == 0 {
			r.Refusef(here, `has no location; give some, as in ["continent/EU","default"], or leave the cluster out`)
		}
		for n, location := range locations[cluster] {
			if slices.Index(locations[cluster], location) < n {
				r.Refusef(here.Index(n), "%s is given twice; leave one out", review.Quote(location))
			} else if fault := faultOfLocation(location); fault != "" {
				r.Refusef(here.Index(n), "%s %s", review.Quote(location), fault)
			}
		}
	}
}

// The codes of locations.
const (
	continents = "AF AN AS EU NA OC SA"
	countries  = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ " +
		"CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR " +
		"GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP " +
		"KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ " +
		"NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW " +
		"SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ " +
		"UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW" // ISO 3166-1 alpha-2
	divided = "US" // the country whose subdivisions may be locations
)

func isOneOf(codes, code string) bool { return slices.Contains(strings.Fields(codes), code) }

// faultOfLocation is why a text is no location, and what to give instead; empty: it is one.
func faultOfLocation(text string) string {
	const forms = "give default, a continent as in continent/EU, a country as in country/DE, or a state as in country/US/CA"
	if text == intent.Everywhere {
		return ""
	}
	kind, code, _ := strings.Cut(text, "/")
	country, state, hasState := strings.Cut(code, "/")
	switch upper := strings.ToUpper(code); {
	case kind != "continent" && kind != "country":
		return "is not a location; " + forms
	case hasState && len(state) != len("CA"):
		return "is not a state; give its two letters, as in country/US/CA"
	case code != upper:
		return fmt.Sprintf("has a code in lower case; write %s/%s", kind, upper)
	case kind == "continent" && !isOneOf(continents, code):
		return "is not a continent; give one of " + strings.Join(strings.Fields(continents), ", ")
	case kind == "continent":
		return ""
	case country == "UK":
		return "is not a country of ISO 3166-1; the United Kingdom is country/GB"
	case country == "EU":
		return "is not a country of ISO 3166-1; Europe is continent/EU"
	case !isOneOf(countries, country):
		return "is not a country of ISO 3166-1 with two letters, as in country/DE"
	case hasState && country != divided:
		return "is a part of a country, which Route 53 knows of the US only; give country/" + country
	case hasState:
		return faultOfState(country, state)
	}
	return ""
}

// faultOfState is why Route 53 does not know a state of a country, and what to give instead; empty: it knows it.
func faultOfState(country, state string) string {
	near := nearest.Name(state, strings.Fields(usStates))
	switch {
	case isOneOf(usStates, state):
		return ""
	case isOneOf(usTerritories, state):
		return "is not a state; the territory has a country code of its own, so give country/" + state
	case near != "":
		return "is not a state that Route 53 knows; did you mean country/" + country + "/" + near + "?"
	}
	return "is not a state; give its two letters, as in country/US/CA"
}
