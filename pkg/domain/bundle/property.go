package bundle

import (
	"strconv"
	"strings"
)

// Property is a name and value by which external-dns tells its provider about a set.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// How external-dns' aws provider is told which clients a set answers. Of a location it
// reads back a continent, or else a country and its subdivision.
const (
	weightProperty      = "aws/weight"
	regionProperty      = "aws/region"
	continentProperty   = "aws/geolocation-continent-code"
	countryProperty     = "aws/geolocation-country-code"
	subdivisionProperty = "aws/geolocation-subdivision-code"
)

// The locations as intents write them; everywhere is a country to Route 53.
const (
	continentPrefix = "continent/"
	countryPrefix   = "country/"
	everywhere      = "default"
	everyCountry    = "*"
)

// Properties say to external-dns which clients the set answers; none without an ID.
func (n PublishedName) Properties() []Property {
	switch {
	case n.ID == "":
		return nil
	case n.Region != "":
		return []Property{{regionProperty, n.Region}}
	case n.Location == everywhere:
		return []Property{{countryProperty, everyCountry}}
	case strings.HasPrefix(n.Location, continentPrefix):
		return []Property{{continentProperty, strings.TrimPrefix(n.Location, continentPrefix)}}
	case n.Location != "":
		country, subdivision, divided := strings.Cut(strings.TrimPrefix(n.Location, countryPrefix), "/")
		if divided {
			return []Property{{countryProperty, country}, {subdivisionProperty, subdivision}}
		}
		return []Property{{countryProperty, country}}
	}
	return []Property{{weightProperty, strconv.FormatInt(n.Weight, 10)}}
}

// with is the set with what properties say, the reverse of Properties.
func (n PublishedName) with(all []Property) PublishedName {
	value := map[string]string{}
	for _, property := range all {
		value[property.Name] = property.Value
	}
	n.Region = value[regionProperty]
	country, subdivision := value[countryProperty], value[subdivisionProperty]
	switch {
	case value[continentProperty] != "":
		n.Location = continentPrefix + value[continentProperty]
	case country == everyCountry:
		n.Location = everywhere
	case subdivision != "":
		n.Location = countryPrefix + country + "/" + subdivision
	case country != "":
		n.Location = countryPrefix + country
	}
	if weight, some := value[weightProperty]; some {
		n.Weight, _ = strconv.ParseInt(weight, 10, 64) // as it was rendered
	}
	return n
}
