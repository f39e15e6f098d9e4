package externaldns

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Mistyped finds parameters whose values are of a wrong JSON type, although their text
// can be read: a list for a boolean, or a number for a domain. A write refuses them.
// What is stored already is rendered as it was.
func Mistyped(parameters Parameters) []Finding {
	var findings []Finding
	for _, parameter := range slices.Sorted(maps.Keys(parameters)) {
		flag, _, known := loadTable().lookup(parameter)
		if !known {
			continue
		}
		all, isList := items(parameters[parameter])
		if isList && flag.Kind == Bool {
			findings = append(findings, about(parameter, "must be true or false, not a list"))
			continue
		}
		for i, item := range all {
			wrongType := flag.wrongScalar(item)
			if wrongType == "" {
				continue
			}
			where := about(parameter, fmt.Sprintf("must be text, not %s; give a %s in quotes", wrongType, flag.Kind))
			if isList {
				where.Pointer += fmt.Sprintf("/%d", i)
			}
			findings = append(findings, where)
		}
	}
	return findings
}

// wrongScalar is the name of a type of scalar that is no name or address.
func (f Flag) wrongScalar(item any) string {
	if !slices.Contains([]Kind{Domain, Zone, Host, Network, KeyPrefix, URL, Pair}, f.Kind) {
		return ""
	}
	switch item.(type) {
	case bool:
		return "true or false"
	case json.Number, float64, int, int64:
		return "a number"
	}
	return ""
}
